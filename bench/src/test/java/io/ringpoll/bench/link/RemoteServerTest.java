package io.ringpoll.bench.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RemoteServerTest {
    private static final HotThreads THREADS = new HotThreads(1, 1024, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
    private static final int CLIENTS = 60;
    private static final int MESSAGE_BYTES = 64;
    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final int port = Integer.parseInt(ConnectedPair.anyPort());
    private final StringWriter progress = new StringWriter();

    @ParameterizedTest
    @EnumSource
    void shouldServeTheOthersWhenAClientDisappearsWhileItConnects(final RdmaApi api) {
        final CompletableFuture<Boolean> server = CompletableFuture.supplyAsync(() -> serve(api, false));
        try (RemoteLink steady = connect(api, server)) {
            final RcConfig config = RemoteLink.config();
            try (RcPeer peer = api.ofRemote(TestDevice.address());
                RcMemory memory = peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages())) {
                final byte[] greeting = new Greeting(Purpose.CONSUME, memory.descriptor()).encode();
                for (int client = 1; client <= CLIENTS; client++) {
                    // Ever later: before the acceptance, between it and the client's answer, and after it.
                    try (RcConnection connection = peer.request(TestDevice.address(), port, config).connect(greeting)) {
                        LockSupport.parkNanos(client * STEP_NS);
                        if (client % 3 == 0) {
                            connection.nextEvent(ConnectedPair.TIMEOUT_MS);
                        }
                    }
                }
            }
            steady.sayGoodbye();
        }
        assertTrue(server.join(), progress::toString);
        assertTrue(progress.toString().contains("client 1 is done"), progress::toString);
    }

    /** The client asks for an answer that is longer than its memory. */
    @ParameterizedTest
    @CsvSource({"rpma, false", "rpma, true", "verbs, false", "verbs, true"})
    void shouldReportTheFailureOfItsPipelineAndDisconnectItsClients(final String word, final boolean runToCompletion) {
        final RdmaApi api = RdmaApi.valueOf(word.toUpperCase(Locale.ROOT));
        final RcConfig config = RemoteLink.config();
        final CompletableFuture<Boolean> server = CompletableFuture.supplyAsync(() -> serve(api, runToCompletion));
        try (RemoteLink steady = connect(api, server); RcPeer peer = api.ofRemote(TestDevice.address());
            RcMemory memory = peer.allocate(MESSAGE_BYTES, LinkEnd.usages());
            RcMemory tooShort = peer.allocate(MESSAGE_BYTES / 2, LinkEnd.usages());
            RcConnection connection = peer.request(TestDevice.address(), port, config)
                .connect(new Greeting(Purpose.ANSWER, tooShort.descriptor()).encode())) {
            assertEquals(Optional.of(RcEvent.ESTABLISHED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
            try (RcRemoteMemory target =
                peer.remote(Greeting.decode(connection.privateData()).descriptor())) {
                assertTrue(connection.writeWithImmediate(target, 0, memory, 0, MESSAGE_BYTES, true, 0, 0));
            }
            final Throwable failure = assertThrows(ExecutionException.class, () -> server.get(60, TimeUnit.SECONDS)).getCause();
            assertInstanceOf(IllegalStateException.class, failure);
            assertTrue(failure.getMessage().contains("the pipeline of this end has failed"), failure.getMessage());
            assertTrue(connection.nextEvent(ConnectedPair.TIMEOUT_MS).isPresent());
            assertTrue(steady.client().connection().nextEvent(ConnectedPair.TIMEOUT_MS).isPresent());
        }
    }

    private boolean serve(final RdmaApi api, final boolean runToCompletion) {
        try {
            return new RemoteServer(api, TestDevice.address(), port, new PrintWriter(progress))
                .run(THREADS, runToCompletion);
        } catch (final TimeoutException e) {
            throw new CompletionException(e);
        }
    }

    /** Connects as soon as the server listens. */
    private RemoteLink connect(final RdmaApi api, final CompletableFuture<Boolean> server) {
        for (;;) {
            try {
                return RemoteLink.connect(api, TestDevice.address(), port, Purpose.CONSUME);
            } catch (final IllegalStateException notYet) {
                if (server.isDone()) {
                    throw notYet;
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
    }
}
