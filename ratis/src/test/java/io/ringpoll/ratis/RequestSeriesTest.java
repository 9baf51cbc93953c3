package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RequestSeriesTest {
    // The peers of the connections are irrelevant.
    private final RdmaProxy connection = new RdmaProxy(null);
    private final RdmaProxy next = new RdmaProxy(null);
    private final RequestSeries series = new RequestSeries();
    private final List<Long> sent = Collections.synchronizedList(new ArrayList<>());

    private void send(final RdmaProxy proxy, final long... numbers) {
        for (final long number : numbers) {
            series.send(number, () -> proxy, used -> sent.add(number));
        }
    }

    private void assertSent(final Long... numbers) {
        assertEquals(List.of(numbers), sent);
    }

    @Test
    void shouldOrderNumberedRequests() {
        final RaftClientRequest.Builder request = RaftClientRequest.newBuilder().setClientId(ClientId.randomId())
            .setServerId(RaftPeerId.valueOf("s")).setGroupId(RaftGroupId.randomId()).setMessage(Message.EMPTY)
            .setType(RaftClientRequest.writeRequestType());
        assertFalse(RequestSeries.isOrdered(request.build()));
        assertTrue(RequestSeries.isOrdered(
            request.setSlidingWindowEntry(SlidingWindowEntry.newBuilder().setSeqNum(1).build()).build()));
    }

    @Test
    void shouldSendDirectlyOnTheSameConnection() {
        send(connection, 0, 1, 2);
        assertSent(0L, 1L, 2L);
        series.answered();
        send(connection, 3);
        assertSent(0L, 1L, 2L, 3L);
    }

    @Test
    void shouldHoldANewRequestUntilFailedOnesAreResent() {
        send(connection, 46, 47);
        series.failed(46);
        series.failed(47);
        send(next, 48);
        assertSent(46L, 47L);
        send(next, 47);
        assertSent(46L, 47L);
        send(next, 46);
        assertSent(46L, 47L, 46L, 47L, 48L);
    }

    @Test
    void shouldNotSwitchConnectionsWhileRequestsAreInFlightOnAnother() {
        send(connection, 5, 6);
        send(next, 7);
        series.answered();
        assertSent(5L, 6L);
        series.failed(6);
        assertSent(5L, 6L);
        send(next, 6);
        assertSent(5L, 6L, 6L, 7L);
    }

    @Test
    void shouldContinueOnAnotherConnectionAfterTheLastFailureOfTheFirst() {
        send(connection, 5, 6);
        series.failed(5);
        send(next, 5);
        assertSent(5L, 6L);
        series.failed(6);
        assertSent(5L, 6L, 5L);
        send(next, 6);
        assertSent(5L, 6L, 5L, 6L);
    }

    @Test
    void shouldWaitForARequestWithoutConnection() {
        series.notSent(0);
        send(next, 1, 2);
        assertSent();
        send(next, 0);
        assertSent(0L, 1L, 2L);
    }

    @Test
    void shouldContinueOnAnotherConnectionAfterAllReplies() {
        send(connection, 0);
        send(next, 1);
        assertSent(0L);
        series.answered();
        assertSent(0L, 1L);
    }

    /** A closed connection failed each waiting request in turn, and the engine's client then tried another server. */
    @Test
    void shouldSendAWaitingRequestOnTheConnectionThatHasReplacedItsFirstOne() {
        final List<RdmaProxy> used = new ArrayList<>();
        final AtomicReference<RdmaProxy> latest = new AtomicReference<>(connection);
        send(connection, 0);
        series.failed(0);
        series.send(1, latest::get, used::add);
        series.send(2, latest::get, used::add);
        latest.set(next);
        send(next, 0);
        assertSent(0L, 0L);
        assertEquals(List.of(next, next), used);
    }

    @Test
    void shouldSendAllWaitingRequestsOnClose() {
        send(connection, 0, 1);
        series.failed(0);
        send(next, 2, 3);
        series.close();
        assertSent(0L, 1L, 2L, 3L);
    }

    @Test
    void shouldPreserveTheOrderWhenConnectionsFailUnderManyThreads() throws Exception {
        final int requests = 20_000;
        final AtomicLong answered = new AtomicLong();
        final List<Long> log = Collections.synchronizedList(new ArrayList<>());
        final CompletableFuture<Void> all = new CompletableFuture<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            final Server server = new Server(series, threads, log, () -> {
                if (answered.incrementAndGet() == requests) {
                    all.complete(null);
                }
            });
            for (long number = 0; number < requests; number++) {
                server.submit(number);
            }
            all.get(20, TimeUnit.SECONDS);
        }
        // As in the engine's log: a resent request is contained once.
        final List<Long> appended = log.stream().distinct().toList();
        assertEquals(requests, appended.size());
        for (int i = 0; i < requests; i++) {
            assertEquals(i, appended.get(i));
        }
        assertTrue(log.size() > requests, "nothing was sent again");
    }

    /** Completes or fails its requests on other threads; every fiftieth failure replaces the connection. */
    private static final class Server {
        private final RequestSeries series;
        private final ExecutorService threads;
        private final List<Long> log;
        private final Runnable onAnswer;
        private final AtomicLong arrivals = new AtomicLong();
        private volatile Connection current = new Connection();

        /** Requests accepted before the connection breaks are appended. */
        private static final class Connection {
            private final RdmaProxy proxy = new RdmaProxy(null);
            private boolean broken;
        }

        private Server(final RequestSeries series, final ExecutorService threads, final List<Long> log, final Runnable onAnswer) {
            this.series = series;
            this.threads = threads;
            this.log = log;
            this.onAnswer = onAnswer;
        }

        private void submit(final long number) {
            final Connection connection = current;
            series.send(number, () -> connection.proxy, used -> {
                final boolean taken;
                synchronized (connection) {
                    if (arrivals.incrementAndGet() % 500 == 0) {
                        connection.broken = true;
                        current = new Connection();
                    }
                    taken = !connection.broken;
                    if (taken) {
                        log.add(number);
                    }
                }
                threads.execute(() -> {
                    // Some requests are accepted, but their reply is lost.
                    if (taken && number % 7 != 0 || taken && !connection.broken) {
                        series.answered();
                        onAnswer.run();
                    } else {
                        series.failed(number);
                        submit(number);
                    }
                });
            });
        }
    }
}
