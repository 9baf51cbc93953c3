package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.DefectiveConnection;
import io.ringpoll.internal.rc.DefectiveRequest;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The close of a set with any time-out, again, and by any thread; and the time-outs of a connect. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(TestDevice.TAG)
class CloseTest {
    private static final long HALF_A_SECOND = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long[] NO_TIME = {0, -1, Long.MIN_VALUE};

    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    @Test
    void shouldReturnTheSameFromEachClose() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            pair.connect();
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertTrue(pair.client().close(0));
        }
    }

    @Test
    void shouldNotWaitWithoutTimeAndContinueWithTime() throws Exception {
        for (final long timeoutNs : NO_TIME) {
            final CountDownLatch entered = new CountDownLatch(1);
            final CountDownLatch left = new CountDownLatch(1);
            try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
                pair.connect().execute(() -> {
                    entered.countDown();
                    awaitUninterruptibly(left);
                });
                entered.await();
                assertFalse(pair.client().close(timeoutNs));
                assertEquals(1, pair.client().connections());
                left.countDown();
                assertTrue(pair.client().close(Long.MAX_VALUE));
                assertEquals(0, pair.client().connections());
            }
        }
    }

    /** Nobody calls close again. */
    @Test
    void shouldReleaseEverythingAfterACloseWithoutTime() throws Exception {
        for (final long timeoutNs : NO_TIME) {
            try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
                final MessageConnection connection = pair.connect();
                server.await("connected");
                pair.client().close(timeoutNs);
                assertEquals("disconnected CLOSED", client.await("disconnected"));
                assertEquals("disconnected PEER_CLOSED", server.await("disconnected"), "the peer gets a goodbye");
                pair.client().awaitClose();
                assertEquals(0, connection.buffer().capacity(), "the memory has not been given back");
                assertFalse(pair.client().pipelines().getFirst().pollerThread().isAlive());
                assertTrue(pair.client().close(timeoutNs));
            }
        }
    }

    @Test
    void shouldReleaseEverythingAfterACloseWithoutTimeByACallback() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            assertTrue(connection.execute(() -> assertFalse(pair.client().close(0))));
            assertEquals("disconnected CLOSED", client.await("disconnected"));
            pair.client().awaitClose();
            assertEquals(0, connection.buffer().capacity(), "the memory has not been given back");
        }
    }

    /** A thread may look whether the set takes tasks, and not continue until the close. */
    @Test
    void shouldExecuteATaskThatIsAddedDuringTheClose() throws Exception {
        final CountDownLatch looked = new CountDownLatch(2);
        final CountDownLatch closing = new CountDownLatch(1);
        final List<String> executed = new CopyOnWriteArrayList<>();
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            pair.connect();
            final TaskQueue tasks = pair.client().pollers().get(0).tasks();
            final FutureTask<Boolean> offer = new FutureTask<>(() -> tasks.offer(() -> executed.add("executed"), () -> {
                looked.countDown();
                if (looked.getCount() == 0) {
                    awaitUninterruptibly(closing);
                }
                return true;
            }));
            Thread.ofPlatform().daemon().start(offer);
            looked.await();
            assertFalse(pair.client().close(HALF_A_SECOND), "a task may follow");
            assertEquals(List.of(), executed);
            closing.countDown();
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertTrue(offer.get());
            assertEquals(List.of("executed"), executed);
        }
    }

    /** They are refused, and do not keep the set from its end. */
    @Test
    void shouldCloseWhileThreadsTryToAddTasks() throws Exception {
        final AtomicInteger accepted = new AtomicInteger();
        final AtomicInteger executed = new AtomicInteger();
        final List<Thread> threads = new ArrayList<>();
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            final Runnable task = executed::incrementAndGet;
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().daemon().start(() -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        accepted.addAndGet(connection.execute(task) ? 1 : 0);
                    }
                }));
            }
            while (accepted.get() == 0) {
                Thread.sleep(1);
            }
            final boolean closed = pair.client().close(SetPair.TEN_SECONDS);
            threads.forEach(Thread::interrupt);
            assertTrue(closed);
            for (final Thread thread : threads) {
                thread.join();
            }
            assertEquals(accepted.get(), executed.get());
        }
    }

    @Test
    void shouldContinueACloseThatHasRunOutOfTime() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch left = new CountDownLatch(1);
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> {
                entered.countDown();
                awaitUninterruptibly(left);
            });
            entered.await();
            assertFalse(pair.client().close(1));
            final FutureTask<Void> awaiting = new FutureTask<>(pair.client()::awaitClose, null);
            Thread.ofPlatform().daemon().start(awaiting);
            assertThrows(TimeoutException.class, () -> awaiting.get(HALF_A_SECOND, TimeUnit.NANOSECONDS), "it is not closed");
            assertFalse(pair.client().close(1));
            final List<Thread> closers = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(pair.client().name() + "-closer")).toList();
            assertEquals(1, closers.size(), "threads that continue the close");
            assertTrue(closers.getFirst().isDaemon(), "keeps the JVM from its end");
            left.countDown();
            assertEquals("disconnected CLOSED", client.await("disconnected"));
            awaiting.get();
            assertEquals(0, connection.buffer().capacity(), "the memory has not been given back");
        }
    }

    /** It keeps all tasks until its callback returns. */
    @Test
    void shouldAskABusyPollingThreadForItsLastPollOnce() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch left = new CountDownLatch(1);
        try (ConnectionSet set = SetPair.builder().listener(server).start()) {
            final ConnectionPoller poller = set.pollers().get(0);
            try (RawClient ignored = new RawClient(set.listen(0), RawClient.HELLO.encode())) {
                server.await("connected");
                poller.execute(() -> {
                    entered.countDown();
                    awaitUninterruptibly(left);
                });
                entered.await();
            }
            // To post nothing more, and the last poll.
            while (poller.waitingTasks() < 2) {
                Thread.sleep(1);
            }
            Thread.sleep(2500);
            // The third publishes the counts of the set.
            assertTrue(poller.waitingTasks() <= 3, "tasks that wait: " + poller.waitingTasks());
            left.countDown();
            assertEquals("disconnected PEER_LOST", server.await("disconnected"));
        }
    }

    @Test
    void shouldNotListenWhenTheCloseHasOvertakenTheCall() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client);
            Peer peer = Peer.ofLocal(TestDevice.address())) {
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            try (RcListener late = RpmaObjects.of(peer).listen(TestDevice.address(), 0)) {
                assertFalse(pair.client().events().listen(late), "nobody would close it");
            }
        }
    }

    /** It needs the device, which is closed last. */
    @Test
    void shouldWaitForACallOfListenThatIsUnderWay() {
        final ConnectionSet set = SetPair.builder().listener(server).start();
        set.places().begin();
        assertFalse(set.close(HALF_A_SECOND));
        assertThrows(IllegalStateException.class, set.places()::begin);
        set.places().onEnded();
        assertTrue(set.close(SetPair.TEN_SECONDS));
    }

    @Test
    void shouldCloseForAnInterruptedThread() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            pair.connect();
            Thread.currentThread().interrupt();
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void shouldSayGoodbyeToAPeerWhoseConnectionIsBeingEstablished() throws Exception {
        boolean isGoodbye = false;
        // The peer must fetch its event within a second: on a busy machine it may be late.
        for (int attempt = 0; attempt < 10 && !isGoodbye; attempt++) {
            try (ConnectionSet set = SetPair.builder().listener(server).start();
                RawClient raw = new RawClient(set.listen(0), RawClient.HELLO.encode(), false)) {
                while (set.connections() == 0) {
                    Thread.sleep(1);
                }
                final Thread closing = Thread.ofPlatform().daemon().start(() -> set.close(SetPair.TEN_SECONDS));
                // Without a goodbye the connection would be released now.
                for (int i = 0; i < 200 && set.connections() > 0; i++) {
                    Thread.sleep(1);
                }
                raw.fetchEvent();
                isGoodbye = raw.isEstablished() && raw.nextKind() == Immediate.GOODBYE;
                closing.join();
                assertTrue(set.close(0));
            }
        }
        assertTrue(isGoodbye, "no attempt has got a goodbye");
        assertEquals(List.of(), server.all);
    }

    @Test
    void shouldWaitForTheLastTaskOfEachConnection() throws Exception {
        shouldWaitForTheLastTask(HALF_A_SECOND / 5, set -> { });
    }

    @Test
    void shouldGiveASlowEventThreadItsWholeTime() throws Exception {
        shouldWaitForTheLastTask(6 * HALF_A_SECOND, set -> assertFalse(set.close(0)));
    }

    /** A wait would take a second, and a busy machine may take that long without one: it does not do so five times in turn. */
    @Test
    void shouldNotWaitForTheEventThreadWithoutTime() throws Exception {
        long shortestNs = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && shortestNs >= HALF_A_SECOND; attempt++) {
            final long[] tookNs = {0};
            shouldWaitForTheLastTask(3 * HALF_A_SECOND, set -> {
                assertFalse(set.close(0));
                Deadline.after(SetPair.TEN_SECONDS).join(set.pipelines().getFirst().pollerThread());
                final long againNs = System.nanoTime();
                set.close(0);
                tookNs[0] = System.nanoTime() - againNs;
            });
            shortestNs = Math.min(shortestNs, tookNs[0]);
        }
        assertTrue(shortestNs < HALF_A_SECOND, "a close without time has taken " + shortestNs + " ns");
    }

    private void shouldWaitForTheLastTask(final long delayNs, final Consumer<ConnectionSet> firstClose) {
        final CountDownLatch freed = new CountDownLatch(1);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), "0");
            ConnectionSet set = ConnectionSet.builder().name("waiting").peer(peer).listener(client).start()) {
            final MessageConnection connection = request(set, peer, silent.port());
            final Thread polling = set.pipelines().getFirst().pollerThread();
            // On the event thread, when the place of the connection is free.
            connection.established().whenComplete((never, failure) -> {
                freed.countDown();
                Deadline.after(HALF_A_SECOND).join(polling);
                LockSupport.parkNanos(delayNs);
            });
            set.events().watch(connection, SetPair.TEN_SECONDS);
            firstClose.accept(set);
            assertTrue(set.close(SetPair.TEN_SECONDS));
            assertEquals(0, freed.getCount());
            assertEquals(0, connection.buffer().capacity(), "the memory has not been given back");
        }
    }

    @Test
    void shouldRefuseSendsOnAnyThreadAfterTheEndOfTheSet() throws Exception {
        final UnsafeBuffer message = new UnsafeBuffer(new byte[1]);
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            assertThrows(IllegalStateException.class, () -> connection.trySend(message, 0, 1));
            assertThrows(IllegalStateException.class, connection::resume);
            pair.server().close();
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
            assertThrows(IllegalStateException.class, () -> connection.tryClaim(1), "its set is open");
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertFalse(connection.trySend(message, 0, 1));
            assertEquals(MessageConnection.NOT_CONNECTED, connection.tryClaim(1));
            connection.resume();
            final String refusal = assertThrows(IllegalStateException.class, connection::retain).getMessage();
            assertTrue(refusal.endsWith(" has no polling thread: its set is closed"), refusal);
        }
    }

    @Test
    void shouldNotWaitForAConnectionWithoutTime() throws Exception {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), "0");
            ConnectionSet clients = SetPair.builder().listener(client).start()) {
            for (final long timeoutNs : NO_TIME) {
                final String message = assertThrows(ConnectException.class,
                    () -> clients.connect(TestDevice.address(), silent.port(), timeoutNs)).getMessage();
                // By this thread or by that of the events.
                assertTrue(message.contains(": ") && message.contains("not established"), message);
            }
        }
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            assertTrue(pair.client().connect(TestDevice.address(), pair.port(), Long.MAX_VALUE).isConnected());
        }
    }

    @Test
    void shouldNotBeginAConnectionThatIsEstablishedTooLate() throws Exception {
        final CountDownLatch busy = new CountDownLatch(1);
        final CountDownLatch freed = new CountDownLatch(1);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), "0");
            Endpoint late = peer.listen(TestDevice.address(), "0");
            ConnectionSet set = ConnectionSet.builder().name("late").peer(peer).listener(client).start()) {
            final MessageConnection first = request(set, peer, silent.port());
            // On the event thread, which handles the time-out after this and the answer after both.
            first.established().whenComplete((never, failure) -> {
                busy.countDown();
                awaitUninterruptibly(freed);
            });
            set.events().watch(first, SetPair.TEN_SECONDS);
            first.close();
            busy.await();
            final MessageConnection second = request(set, peer, late.port());
            set.events().watch(second, 0);
            try (ConnectionRequest request = late.nextRequest(RawClient.TIMEOUT_MS).orElseThrow();
                Connection accepted = request.connect(RawClient.HELLO.encode());
                DescriptorPoll descriptors = new DescriptorPoll()) {
                descriptors.add(second.connection().eventFd(), () -> { });
                descriptors.await(RawClient.TIMEOUT_MS);
                freed.countDown();
                final Throwable failure = assertThrows(ExecutionException.class, () -> second.established().get()).getCause();
                assertEquals("PEER_LOST not established in time", failure.getMessage());
                assertEquals(ConnectionEvent.ESTABLISHED, accepted.nextEvent(RawClient.TIMEOUT_MS).orElseThrow());
            }
            assertTrue(set.close(SetPair.TEN_SECONDS));
            assertEquals(List.of(), client.all);
        }
    }

    @Test
    void shouldRefuseWhatCannotBeStarted() {
        assertTrue(refusal(SetPair.builder().maxMessageBytes(Integer.MAX_VALUE)).contains("bytes of buffers"));
        assertTrue(refusal(SetPair.builder().maxMessageBytes(Integer.MAX_VALUE - 63).messagesInFlight(1))
            .contains("8589934336 bytes of buffers"));
        assertTrue(refusal(SetPair.builder().pollers(100_000)).contains("there are 100000 pollers: use 1 to 1024"));
        assertEquals("the name contains a control character", refusal(SetPair.builder().name("a\tb")));
    }

    @Test
    void shouldNameTheArgumentThatIsNull() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            assertEquals("the source of the message is null",
                assertThrows(NullPointerException.class, () -> connection.trySend(null, 0, 0)).getMessage());
            assertEquals("the task is null",
                assertThrows(NullPointerException.class, () -> connection.execute(null)).getMessage());
            assertThrows(IndexOutOfBoundsException.class, () -> connection.trySend(new UnsafeBuffer(new byte[1]), 2, 0));
        }
    }

    @Test
    void shouldEndAConnectWhoseSetIsClosedDuringALongCallback() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch left = new CountDownLatch(1);
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            pair.connect().execute(() -> {
                entered.countDown();
                awaitUninterruptibly(left);
            });
            entered.await();
            final FutureTask<MessageConnection> connect =
                new FutureTask<>(() -> pair.client().connect(TestDevice.address(), pair.port(), Long.MAX_VALUE));
            Thread.ofPlatform().daemon().start(connect);
            server.await("connected");
            server.await("connected");
            assertFalse(pair.client().close(0));
            final Throwable failure = assertThrows(ExecutionException.class, connect::get).getCause();
            assertTrue(failure instanceof ConnectException && failure.getMessage().endsWith(" is closed"),
                failure::toString);
            left.countDown();
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertEquals(List.of("connected", "disconnected CLOSED"), client.all);
        }
    }

    @Test
    void shouldDeliverWhatWasReceivedBeforeTheEndOfThePipelineWithoutAGap() throws Exception {
        final BusyRecorder busy = new BusyRecorder("m0");
        try (SetPair pair = SetPair.of(builder -> { }, busy, client)) {
            final MessageConnection connection = pair.connect();
            final Thread closing = stopPipelineWithMessagesLeft(pair, connection, busy);
            closing.join();
            connection.execute(() -> send(connection, 5, 8));
            assertDelivered(5, busy);
            assertTrue(pair.server().close(SetPair.TEN_SECONDS));
        }
    }

    @Test
    void shouldWaitForTheCallbackOfTheThreadThatClosesThePipeline() throws Exception {
        final BusyRecorder busy = new BusyRecorder("m0", "m1");
        try (SetPair pair = SetPair.of(builder -> { }, busy, client)) {
            final Thread closing = stopPipelineWithMessagesLeft(pair, pair.connect(), busy);
            busy.awaitEntered("m1");
            assertFalse(pair.server().close(0));
            assertEquals("message m1", busy.all.getLast());
            busy.leave("m1");
            closing.join();
            assertTrue(pair.server().close(SetPair.TEN_SECONDS));
            // The close drops the messages that it precedes.
            assertDelivered(2, busy);
        }
    }

    /** Expects at least the first messages, without a gap, then the end of the pipeline. */
    private static void assertDelivered(final int least, final Recorder recorder) throws InterruptedException {
        assertEquals("disconnected FAILED", recorder.await("disconnected"));
        final List<String> delivered = recorder.all.subList(1, recorder.all.size() - 1);
        assertTrue(delivered.size() >= least, delivered::toString);
        assertEquals(IntStream.range(0, delivered.size()).mapToObj(i -> "message m" + i).toList(), delivered);
    }

    /** Stops the pipeline of the server during the callback of m0; m1 to m4 are in the queue. Returns the stopping thread. */
    private static Thread stopPipelineWithMessagesLeft(final SetPair pair, final MessageConnection connection,
        final BusyRecorder busy) throws InterruptedException {
        connection.execute(() -> send(connection, 0, 1));
        busy.awaitEntered("m0");
        final CountDownLatch sent = new CountDownLatch(1);
        connection.execute(() -> send(connection, 1, 5));
        connection.execute(sent::countDown);
        sent.await();
        final Thread stopping =
            Thread.ofPlatform().daemon().start(() -> pair.server().pipelines().getFirst().stop(SetPair.TEN_SECONDS));
        while (stopping.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        // The polling thread ends after the callback.
        busy.leave("m0");
        return stopping;
    }

    /** Does not return from the callbacks of some messages until they may. */
    private static final class BusyRecorder extends Recorder {
        private final Map<String, CountDownLatch> entered = new ConcurrentHashMap<>();
        private final Map<String, CountDownLatch> left = new ConcurrentHashMap<>();

        BusyRecorder(final String... messages) {
            for (final String message : messages) {
                entered.put(message, new CountDownLatch(1));
                left.put(message, new CountDownLatch(1));
            }
        }

        void awaitEntered(final String message) throws InterruptedException {
            entered.get(message).await();
        }

        void leave(final String message) {
            left.get(message).countDown();
        }

        @Override
        public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
            final int length) throws Exception {
            super.onMessage(connection, buffer, offset, length);
            final String message = buffer.getStringWithoutLengthUtf8(offset, length);
            if (entered.containsKey(message)) {
                entered.get(message).countDown();
                awaitUninterruptibly(left.get(message));
            }
            return true;
        }
    }

    private static void send(final MessageConnection connection, final int first, final int end) {
        for (int i = first; i < end; i++) {
            final UnsafeBuffer message = new UnsafeBuffer(("m" + i).getBytes(StandardCharsets.US_ASCII));
            connection.trySend(message, 0, message.capacity());
        }
    }

    @Test
    void shouldCloseItselfWhenAPipelineHasEnded() throws Exception {
        try (SetPair pair = SetPair.of(builder -> builder.pollers(2), server, client)) {
            final MessageConnection connection = pair.connect();
            server.await("connected");
            assertEquals("connected", client.await("connected"));
            pair.connect();
            server.await("connected");
            pair.client().pipelines().getFirst().close();
            assertFalse(connection.execute(() -> { }));
            final String message = assertThrows(IllegalStateException.class, pair::connect).getMessage();
            // The set may have noticed it during the close of the pipeline.
            assertTrue(message.contains(": the pipeline of thread ") &&
                (message.endsWith(" is CLOSED") || message.endsWith(" is STOPPING")), message);
            assertThrows(IllegalStateException.class, () -> pair.client().listen(0));
            pair.client().awaitClose();
            assertTrue(pair.client().isClosed());
            assertFalse(connection.isConnected());
            assertTrue(connection.disconnectDetail().startsWith("the pipeline of thread "), connection.disconnectDetail());
            final String closed = assertThrows(IllegalStateException.class, pair::connect).getMessage();
            assertTrue(closed.contains(" is closed: the pipeline of thread "), closed);
            // On a slow machine it may have given up after 10 seconds: continues then.
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertEquals(1, client.all.stream().filter("disconnected FAILED"::equals).count());
            assertEquals(1, client.all.stream().filter("disconnected CLOSED"::equals).count());
        }
    }

    @Test
    void shouldGiveTheMemoryOfAnUnmadeConnectionBackWhenItsQueuePairIsClosed() throws Exception {
        final AtomicReference<DefectiveConnection> defective = new AtomicReference<>();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), "0");
            ConnectionSet set = SetPair.builder().address(null).peer(peer).maxConnections(1).listener(client).start();
            RcRequest request = RpmaObjects.of(peer).request(TestDevice.address(), silent.port(),
                set.sizes().config(1000));
            DefectiveRequest leaving = new DefectiveRequest(request, connected -> {
                defective.set(new DefectiveConnection(connected));
                defective.get().failSends(new IllegalStateException("no sends"));
                defective.get().refuseCloses(2);
                return defective.get();
            })) {
            final IllegalStateException failed = assertThrows(IllegalStateException.class, () -> set.make(leaving, null));
            assertEquals("no sends", failed.getMessage());
            // As long as the queue pair is open, no other connection gets its memory.
            while (!defective.get().isClosed()) {
                assertTrue(set.connections() == 1 || defective.get().isClosed(), () -> set.connections() + " connections");
                Thread.sleep(1);
            }
            assertEquals(3, defective.get().closes());
            while (set.connections() > 0) {
                Thread.sleep(1);
            }
        }
    }

    private static MessageConnection request(final ConnectionSet set, final Peer peer, final int port) {
        try (RcRequest request =
            RpmaObjects.of(peer).request(TestDevice.address(), port, set.sizes().config(1000))) {
            return set.make(request, null);
        }
    }

    private String refusal(final ConnectionSetBuilder description) {
        return assertThrows(IllegalArgumentException.class, () -> description.listener(server).start().close()).getMessage();
    }

    private static void awaitUninterruptibly(final CountDownLatch latch) {
        boolean isOver = false;
        while (!isOver) {
            try {
                isOver = latch.await(1, TimeUnit.MINUTES);
            } catch (final InterruptedException again) {
                // The test ends it.
            }
        }
    }
}
