package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ServerTest {
    private static final int DEPTH = 64;
    private static final int CLIENTS = 60;
    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private static final RcConfig SIZES = RcConfig.of(10, 10, 10);

    private final int port = Integer.parseInt(ConnectedPair.anyPort());

    @ParameterizedTest
    @EnumSource
    void shouldTakeAClientThatDisappearsWhileItConnectsForGone(final RdmaApi api) throws Exception {
        final StringWriter progress = new StringWriter();
        final MainJob job = new MainJob(server(api), new PrintWriter(progress));
        final CompletableFuture<RunReport> report = CompletableFuture.supplyAsync(() -> run(job));
        try (RcPeer peer = api.ofRemote(TestDevice.address())) {
            connect(peer, 0).close();
            for (int client = 1; client <= CLIENTS; client++) {
                // Ever later: before the acceptance, between it and the client's answer, and after it.
                try (RcConnection connection = peer.request(TestDevice.address(), port, SIZES).connect(hello(client))) {
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

    @Test
    void shouldBeginTheWarmUpWithTheFirstClient() throws Exception {
        final StringWriter progress = new StringWriter();
        final MainJob job = new MainJob(server(RdmaApi.RPMA), new PrintWriter(progress));
        final CompletableFuture<RunReport> report = CompletableFuture.supplyAsync(() -> run(job));
        try (RcPeer peer = RdmaApi.RPMA.ofRemote(TestDevice.address())) {
            while (!progress.toString().contains(" 3 s ")) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
            connect(peer, 0).close();
        } finally {
            job.interrupt();
        }
        report.get();
        // The warm-up takes a second at most.
        final List<String> lines = progress.toString().lines().filter(line -> line.matches(" +[123] s .*")).toList();
        assertEquals(3, lines.size(), progress::toString);
        assertTrue(lines.stream().allMatch(line -> line.endsWith("(warm-up)")), progress::toString);
    }

    /** Connects as soon as the server listens. */
    private RcConnection connect(final RcPeer peer, final int session) {
        for (;;) {
            final RcConnection connection = peer.request(TestDevice.address(), port, SIZES).connect(hello(session));
            try {
                connection.awaitEstablished(ConnectedPair.TIMEOUT_MS);
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

    private RunConfig server(final RdmaApi api) {
        return new RunConfig(api, Role.SERVER, 100, 1, 0, Mix.parse(Mix.DEFAULT), 64, CLIENTS, DEPTH, 32, 1024, null,
            RunPinning.NONE, TestDevice.address(), port, true, 1, false, null);
    }

    private static RunReport run(final MainJob job) {
        try {
            return job.run();
        } catch (final InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }
}
