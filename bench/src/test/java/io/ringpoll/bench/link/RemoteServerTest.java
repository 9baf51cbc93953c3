package io.ringpoll.bench.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RemoteServerTest {
    private static final HotThreads THREADS = new HotThreads(1, 1024, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
    private static final int CLIENTS = 60;
    private static final int MESSAGE_BYTES = 64;
    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final String port = ConnectedPair.anyPort();
    private final StringWriter progress = new StringWriter();

    @Test
    void shouldServeTheOthersWhenAClientDisappearsWhileItConnects() {
        final CompletableFuture<Boolean> server = CompletableFuture.supplyAsync(() -> serve(false));
        try (RemoteLink steady = connect(server)) {
            try (Peer peer = Peer.ofRemote(TestDevice.address()); ConnectionConfig config = RemoteLink.config();
                LocalMemoryRegion memory = peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages())) {
                final byte[] greeting = new Greeting(Purpose.CONSUME, memory.descriptor()).encode();
                for (int client = 1; client <= CLIENTS; client++) {
                    // Ever later: before the acceptance, between it and the client's answer, and after it.
                    try (Connection connection = peer.request(TestDevice.address(), port, config).connect(greeting)) {
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
    @ValueSource(booleans = {false, true})
    void shouldReportTheFailureOfItsPipelineAndDisconnectItsClients(final boolean runToCompletion) {
        final CompletableFuture<Boolean> server = CompletableFuture.supplyAsync(() -> serve(runToCompletion));
        try (RemoteLink steady = connect(server); Peer peer = Peer.ofRemote(TestDevice.address());
            ConnectionConfig config = RemoteLink.config();
            LocalMemoryRegion memory = peer.allocate(MESSAGE_BYTES, LinkEnd.usages());
            LocalMemoryRegion tooShort = peer.allocate(MESSAGE_BYTES / 2, LinkEnd.usages());
            Connection connection = peer.request(TestDevice.address(), port, config)
                .connect(new Greeting(Purpose.ANSWER, tooShort.descriptor()).encode())) {
            assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
            try (RemoteMemoryRegion target =
                RemoteMemoryRegion.ofDescriptor(Greeting.decode(connection.privateData()).descriptor())) {
                assertTrue(connection.writeWithImmediate(target, 0, memory, 0, MESSAGE_BYTES, CompletionFlag.ALWAYS, 0, 0));
            }
            final Throwable failure = assertThrows(ExecutionException.class, () -> server.get(60, TimeUnit.SECONDS)).getCause();
            assertInstanceOf(IllegalStateException.class, failure);
            assertTrue(failure.getMessage().contains("the pipeline of this end has failed"), failure.getMessage());
            assertTrue(connection.nextEvent(ConnectedPair.TIMEOUT_MS).isPresent());
            assertTrue(steady.client().connection().nextEvent(ConnectedPair.TIMEOUT_MS).isPresent());
        }
    }

    private boolean serve(final boolean runToCompletion) {
        try {
            return new RemoteServer(TestDevice.address(), Integer.parseInt(port), new PrintWriter(progress))
                .run(THREADS, runToCompletion);
        } catch (final TimeoutException e) {
            throw new CompletionException(e);
        }
    }

    /** Connects as soon as the server listens. */
    private RemoteLink connect(final CompletableFuture<Boolean> server) {
        for (;;) {
            try {
                return RemoteLink.connect(TestDevice.address(), Integer.parseInt(port), Purpose.CONSUME);
            } catch (final IllegalStateException notYet) {
                if (server.isDone()) {
                    throw notYet;
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
    }
}
