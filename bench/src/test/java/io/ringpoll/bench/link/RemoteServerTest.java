package io.ringpoll.bench.link;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RemoteServerTest {
    private static final HotThreads THREADS = new HotThreads(1, 1024, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
    private static final int CLIENTS = 60;
    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final String port = ConnectedPair.anyPort();
    private final StringWriter progress = new StringWriter();

    @Test
    void shouldServeTheOthersWhenAClientDisappearsWhileItConnects() {
        final CompletableFuture<Boolean> server = CompletableFuture.supplyAsync(this::serve);
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

    private boolean serve() {
        try {
            return new RemoteServer(TestDevice.address(), Integer.parseInt(port), new PrintWriter(progress)).run(THREADS, false);
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
