package io.ringpoll.internal.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.connections.KeptConnection.Phase;
import io.ringpoll.internal.rc.DefectiveConnection;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A protocol that accepts everything; calls into the loopback device fail. */
@Timeout(60)
class ConnectionEventLoopTest {
    private static final int IO_ERROR = 5;
    private static final int TIMEOUT_MS = 20_000;
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);

    private final AtomicBoolean refusesConfig = new AtomicBoolean();
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final RcPeer peer = RdmaApi.RPMA.ofLocal(TestDevice.address());
    private final List<RcConnection> clients = new ArrayList<>();
    private final Recording loop = new Recording();

    @AfterEach
    void close() {
        CallFault.plan(0, 0);
        refusesConfig.set(false);
        loop.releaseAll();
        assertTrue(loop.stop(TIMEOUT_NS));
        clients.forEach(RcConnection::close);
        peer.close();
    }

    private int listen() {
        return listen(peer.listen(TestDevice.address(), 0));
    }

    private int listen(final RcListener listener) {
        final int port = listener.port();
        assertTrue(loop.listen(listener));
        return port;
    }

    private RcConnection request(final int port) {
        try (RcRequest request = peer.request(TestDevice.address(), port, RcConfig.of(10, 10, 20))) {
            clients.add(request.connect());
            return clients.getLast();
        }
    }

    private String next() throws InterruptedException {
        return String.valueOf(events.poll(TIMEOUT_NS, TimeUnit.NANOSECONDS));
    }

    private void establish(final RcConnection client) throws InterruptedException {
        assertEquals(RcEvent.ESTABLISHED, client.nextEvent(TIMEOUT_MS).orElseThrow());
        assertEquals("established", next());
    }

    @Test
    void shouldAcceptAtSeveralEndpoints() throws Exception {
        loop.start();
        final int first = listen();
        final int second = listen();
        // In this order: then the loop has both.
        establish(request(second));
        establish(request(first));
    }

    /** Otherwise its port would be in use until the end of the process. */
    @Test
    void shouldCloseEachListenerIfTheCloseOfOneFails() throws Exception {
        loop.start();
        listen();
        final int second = listen();
        establish(request(second));
        loop.releaseAll();
        assertEquals("released", next());
        loop.failNextClose();
        assertTrue(loop.stop(TIMEOUT_NS));
        assertTrue(next().contains("rpma_ep_shutdown"));
        peer.listen(TestDevice.address(), second).close();
    }

    /** Nothing would close the others later. */
    @Test
    void shouldCloseEachListenerIfTheCloseOfOneFailsAtTheEndOfTheThread() throws Exception {
        loop.start();
        final RcListener first = peer.listen(TestDevice.address(), 0);
        listen(first);
        final int second = listen();
        establish(request(second));
        loop.releaseAll();
        assertEquals("released", next());
        loop.failCloseAtTheEnd();
        assertTrue(loop.stop(TIMEOUT_NS));
        CallFault.plan(0, 0);
        assertTrue(next().contains("rpma_ep_shutdown"));
        peer.listen(TestDevice.address(), second).close();
        first.close();
    }

    /** Nothing would close it later. */
    @Test
    void shouldCloseAListenerThatItsThreadTakesNoMore() throws Exception {
        loop.start();
        final CountDownLatch leaves = loop.stayInTheNextRound();
        final int port = listen();
        assertFalse(loop.stop(0));
        leaves.countDown();
        assertTrue(loop.stop(TIMEOUT_NS));
        peer.listen(TestDevice.address(), port).close();
        try (RcListener late = peer.listen(TestDevice.address(), port)) {
            assertFalse(loop.listen(late));
        }
    }

    @Test
    void shouldCloseAListenerOfAThreadThatWasNotStarted() {
        final int port = listen();
        assertTrue(loop.stop(TIMEOUT_NS));
        peer.listen(TestDevice.address(), port).close();
    }

    @Test
    void shouldPauseAfterADefectThatLasts() throws Exception {
        loop.start();
        final int port = listen();
        refusesConfig.set(true);
        final int defects = 200;
        // Before the first: this thread may be late for some of them.
        final long startNs = System.nanoTime();
        final RcConnection client = request(port);
        for (int i = 0; i < defects; i++) {
            assertEquals("defect", next());
        }
        assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(defects - 1), "a busy loop");
        refusesConfig.set(false);
        assertEquals(RcEvent.ESTABLISHED, client.nextEvent(TIMEOUT_MS).orElseThrow());
    }

    @Test
    void shouldReportThatTheEventsOfAConnectionCannotBeRead() throws Exception {
        loop.start();
        final int port = listen();
        String reported;
        int call = 0;
        do {
            final RcConnection client = request(port);
            establish(client);
            CallFault.plan(++call, IO_ERROR);
            try {
                client.disconnect();
                reported = next();
            } catch (final RdmaException planned) {
                reported = "planned";
            }
            CallFault.plan(0, 0);
        } while (!"unreadable".equals(reported) && call < 10);
        assertEquals("unreadable", reported);
        assertEquals("lost", next());
    }

    @Test
    void shouldKeepAConnectionWhoseCloseFindsAPostUntilALaterTick() throws Exception {
        loop.start();
        establish(request(listen()));
        final int refusals = 3;
        loop.accepted.refuseCloses(refusals);
        loop.releaseAll();
        assertEquals("java.lang.IllegalStateException: a post has not returned", next());
        // The buffers go back to their pool with this event; the retries report nothing.
        assertEquals("released", next());
        assertEquals(refusals + 1, loop.accepted.closes());
        assertEquals(1, loop.accepted.disconnects());
        assertEquals(0, loop.kept());
    }

    @Test
    void shouldReleaseAConnectionOnce() throws Exception {
        loop.start();
        establish(request(listen()));
        loop.releaseAllTwice();
        assertEquals("released", next());
        assertEquals(0, loop.kept());
        assertEquals(1, loop.accepted.closes());
        assertNull(events.poll());
    }

    @Test
    void shouldReleaseAConnectionOnceIfACallOfItsCloseFails() throws Exception {
        loop.start();
        establish(request(listen()));
        loop.accepted.failClose(failure("ibv_destroy_cq"));
        loop.releaseAll();
        assertEquals("released", next());
        assertTrue(next().contains("ibv_destroy_cq"));
        assertEquals(0, loop.kept());
        assertNull(events.poll(100, TimeUnit.MILLISECONDS));
    }

    @Test
    void shouldReportAnUnknownEventWithTheTextOfTheLibrary() throws Exception {
        loop.start();
        establish(request(listen()));
        loop.accepted.putUnknownEvent(failure("rpma_conn_next_event"));
        loop.readAll();
        final String defect = next();
        assertTrue(defect.contains("that is not about it: rpma_conn_next_event"), defect);
        assertEquals(1, loop.kept());
        assertNull(events.poll());
    }

    private static RdmaException failure(final String function) {
        return new VerbsException(function, IO_ERROR);
    }

    /** Records the calls of its loop. */
    private final class Recording extends ConnectionEventLoop<Object> {
        Recording() {
            super("recording");
        }

        private volatile DefectiveConnection accepted;
        private final AtomicReference<CountDownLatch> stay = new AtomicReference<>();
        private final CountDownLatch stays = new CountDownLatch(1);

        /** The commands of this round have been executed when this returns, and later ones are not before the next. */
        CountDownLatch stayInTheNextRound() throws InterruptedException {
            final CountDownLatch leaves = new CountDownLatch(1);
            stay.set(leaves);
            execute(() -> { });
            stays.await();
            return leaves;
        }

        @Override
        protected void onRound() {
            final CountDownLatch leaves = stay.getAndSet(null);
            if (leaves != null) {
                stays.countDown();
                try {
                    leaves.await();
                } catch (final InterruptedException impossible) {
                    throw new AssertionError(impossible);
                }
            }
        }

        void failNextClose() {
            execute(() -> {
                CallFault.plan(1, IO_ERROR);
                closeListeners();
                CallFault.plan(0, 0);
            });
        }

        void failCloseAtTheEnd() {
            execute(() -> {
                stop(0);
                CallFault.plan(1, IO_ERROR);
            });
        }

        void readAll() {
            execute(() -> all().forEach(this::readEvent));
        }

        int kept() throws Exception {
            final CompletableFuture<Integer> count = new CompletableFuture<>();
            execute(() -> count.complete(all().size()));
            return count.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        }

        void releaseAllTwice() {
            execute(() -> all().forEach(kept -> {
                release(kept);
                release(kept);
            }));
        }

        void releaseAll() {
            execute(() -> all().forEach(this::release));
        }

        @Override
        protected RcConfig connectionConfig() {
            if (refusesConfig.get()) {
                throw new AssertionError("lasts");
            }
            return RcConfig.of(10, 10, 20);
        }

        @Override
        protected void onRequest(final RcRequest request) {
            accepted = new DefectiveConnection(request.connect());
            keep(new Object(), accepted, TIMEOUT_NS);
        }

        @Override
        protected void onRejected(final Exception reason) {
            events.add("rejected");
        }

        @Override
        protected void onEstablished(final KeptConnection<Object> kept) {
            kept.enter(Phase.ESTABLISHED, 0);
            events.add("established");
        }

        @Override
        protected void onLost(final KeptConnection<Object> kept, final RcEvent event) {
            events.add("lost");
        }

        @Override
        protected void onEventFailure(final KeptConnection<Object> kept, final RdmaException failed) {
            events.add("unreadable");
        }

        @Override
        protected void onTick(final KeptConnection<Object> kept, final long nowNs) {
            if (kept.isReleasing()) {
                events.add("used after its release has begun");
            }
        }

        @Override
        protected void onDeadline(final KeptConnection<Object> kept) {
            events.add("deadline");
        }

        @Override
        protected void onReleased(final KeptConnection<Object> kept) {
            events.add(accepted.isClosed() ? "released" : "released, and open");
        }

        @Override
        protected void onDefect(final Throwable failure) {
            events.add(failure instanceof AssertionError ? "defect" : failure.toString());
        }
    }
}
