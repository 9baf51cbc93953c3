package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.connections.FirstEvent;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ServerTest {
    private static final int DEPTH = 64;
    private static final int CLIENTS = 60;
    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final String port = ConnectedPair.anyPort();

    @Test
    void shouldTakeAClientThatDisappearsWhileItConnectsForGone() throws Exception {
        final StringWriter progress = new StringWriter();
        final MainJob job = new MainJob(server(), new PrintWriter(progress));
        final CompletableFuture<RunReport> report = CompletableFuture.supplyAsync(() -> run(job));
        try (Peer peer = Peer.ofRemote(TestDevice.address()); ConnectionConfig sizes = ConnectionConfig.create()) {
            connect(peer, sizes, 0).close();
            for (int client = 1; client <= CLIENTS; client++) {
                // Ever later: before the acceptance, between it and the client's answer, and after it.
                try (Connection connection = peer.request(TestDevice.address(), port, sizes).connect(hello(client))) {
                    LockSupport.parkNanos(client * STEP_NS);
                    if (client % 3 == 0) {
                        connection.nextEvent(ConnectedPair.TIMEOUT_MS);
                    }
                }
            }
        } finally {
            job.interrupt();
        }
        final RunReport result = report.get();
        final StringWriter text = new StringWriter();
        result.printRemarks(new PrintWriter(text, true));
        assertTrue(result.isSound(), text + "\n" + progress);
        assertEquals(0, result.lost());
    }

    /** Connects as soon as the server listens. */
    private Connection connect(final Peer peer, final ConnectionConfig sizes, final int session) {
        for (;;) {
            final Connection connection = peer.request(TestDevice.address(), port, sizes).connect(hello(session));
            try {
                FirstEvent.awaitEstablished(connection, ConnectedPair.TIMEOUT_MS);
                return connection;
            } catch (final IllegalStateException notYet) {
                connection.close();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
    }

    private static byte[] hello(final int session) {
        return new Hello(Hello.Purpose.STEADY, session, DEPTH, 64, 1).encode();
    }

    private RunConfig server() {
        return new RunConfig(Role.SERVER, 100, 1, 0, Mix.parse(Mix.DEFAULT), 64, CLIENTS, DEPTH, 32, 1024, null, RunPinning.NONE,
            TestDevice.address(), Integer.parseInt(port), true, 1, false, null);
    }

    private static RunReport run(final MainJob job) {
        try {
            return job.run();
        } catch (final InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }
}
