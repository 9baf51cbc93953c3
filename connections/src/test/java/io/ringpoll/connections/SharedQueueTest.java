package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineState;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections of a polling thread that share a completion queue, on the loopback device. */
@Timeout(60)
class SharedQueueTest {
    private static final int MESSAGES = 100;
    private static final int FAULT = -5;
    private static final int OVERRUN = 5;

    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    /** Answers each message. */
    private static final class Echo implements ConnectionListener {
        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            return connection.trySend(buffer, offset, length);
        }
    }

    /** Sends the next number after each answer, from 0 on; the attachment is the number that is expected. */
    private static final class Counting implements ConnectionListener {
        private final CountDownLatch ends;
        private final List<String> faults = new CopyOnWriteArrayList<>();

        private Counting(final int connections) {
            ends = new CountDownLatch(connections);
        }

        @Override
        public void onConnected(final MessageConnection connection) {
            connection.attach(new int[1]);
            send(connection, 0);
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            final int[] expected = (int[]) connection.attachment();
            if (buffer.getInt(offset) != expected[0]++) {
                faults.add(connection + ": message " + buffer.getInt(offset));
            }
            if (expected[0] < MESSAGES) {
                send(connection, expected[0]);
            } else {
                ends.countDown();
            }
            return true;
        }

        private static void send(final MessageConnection connection, final int number) {
            connection.trySend(new UnsafeBuffer(new byte[] {(byte) number, 0, 0, 0}), 0, Integer.BYTES);
        }
    }

    private static ConnectionSetBuilder sharing() {
        return SetPair.builder(SetKind.SHARED_QUEUE);
    }

    @Test
    void shouldPollOneQueueForAllConnectionsOfAThread() throws Exception {
        final Counting counting = new Counting(20);
        try (ConnectionSet set = sharing().pollers(2).listener(new Echo()).start();
            ConnectionSet clients = sharing().listener(counting).start()) {
            final int port = set.listen(0);
            for (int i = 0; i < 20; i++) {
                clients.connect(TestDevice.address(), port);
            }
            assertTrue(counting.ends.await(40, TimeUnit.SECONDS));
            assertEquals(List.of(), counting.faults);
            assertEquals(1, clients.pipelines().getFirst().counters().sum("queues"));
            for (final Pipeline pipeline : set.pipelines()) {
                assertEquals(1, pipeline.counters().sum("queues"));
            }
        }
    }

    @Test
    void shouldLeaveNothingBehind() throws Exception {
        exchange();
        final Map<String, Long> objects = ProcessResources.objects();
        exchange();
        assertEquals(objects, ProcessResources.objectsBackTo(objects));
    }

    private static void exchange() throws Exception {
        final Counting counting = new Counting(3);
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, new Echo(), counting)) {
            for (int i = 0; i < 3; i++) {
                pair.connect();
            }
            assertTrue(counting.ends.await(40, TimeUnit.SECONDS));
        }
    }

    /** The client learns that it is accepted while the thread of events, which has accepted it, waits in another's filter. */
    @Test
    void shouldKeepMessagesThatComeBeforeTheConnectionBegins() throws Exception {
        final AtomicInteger asked = new AtomicInteger();
        final CountDownLatch third = new CountDownLatch(1);
        final CountDownLatch answer = new CountDownLatch(1);
        final AcceptFilter filter = (address, data) -> {
            if (asked.incrementAndGet() == 3) {
                third.countDown();
                return answer.await(40, TimeUnit.SECONDS);
            }
            return true;
        };
        final Recorder lengths = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                add("message of " + length);
                return true;
            }
        };
        try (ConnectionSet set = sharing().acceptFilter(filter).listener(lengths).start()) {
            final int port = set.listen(0);
            try (RawClient first = new RawClient(port, RawClient.HELLO.encode());
                RawClient early = new RawClient(port, RawClient.HELLO.encode(), false);
                RawClient last = new RawClient(port, RawClient.HELLO.encode(), false)) {
                // From now on the queue is polled.
                assertEquals("connected", lengths.await("connected"));
                assertTrue(third.await(40, TimeUnit.SECONDS));
                early.fetchEvent();
                final long polled = completions(set);
                for (int length = 1; length <= 3; length++) {
                    early.send(length, Immediate.of(Immediate.MESSAGE, 0));
                }
                while (completions(set) < polled + 3) {
                    Thread.onSpinWait();
                }
                assertEquals(List.of("connected"), lengths.all);
                answer.countDown();
                assertEquals("message of 3", lengths.await("message of 3"));
                assertEquals(
                    List.of("connected", "connected", "message of 1", "message of 2", "message of 3"), lengths.all);
                last.fetchEvent();
                assertEquals("connected", lengths.await("connected"));
            } finally {
                answer.countDown();
            }
        }
    }

    private static long completions(final ConnectionSet set) {
        return set.pipelines().getFirst().counters().sum("published_slots");
    }

    /** Of a queue pair that had the same number before: such a device keeps the completions of those that are destroyed. */
    @Test
    void shouldHandleNoCompletionOfAnEarlierQueuePair() throws Exception {
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, new Echo(), client)) {
            final MessageConnection connection = pair.connect();
            final ConnectionPoller poller = connection.poller();
            final int number = connection.connection().queuePairNumber();
            final ExpectedConnection expected = new ExpectedConnection(number, connection.begin, 2);
            final WorkCompletion own = endless(number, connection.begin);
            final WorkCompletion other = endless(number, connection.begin ^ WorkRequestId.begin(1));
            assertTrue(connection.execute(() -> {
                poller.onCompletion(other, 0, true);
                expected.add(other);
                expected.deliver(connection);
                client.add("handled " + connection.isConnected());
                expected.add(own);
                expected.deliver(connection);
            }));
            assertEquals("handled true", client.await("handled"));
            assertEquals("disconnected PROTOCOL_VIOLATION", client.await("disconnected"));
        }
    }

    /** The completion of a message that is longer than any receive, so that a connection which handles it ends. */
    private static WorkCompletion endless(final int queuePairNumber, final long begin) {
        final Completions record = new Completions(1);
        record.memory().putInt(IbvWc.STATUS_OFFSET, WcStatus.SUCCESS);
        record.memory().putInt(IbvWc.OPCODE_OFFSET, WcOpcode.RECV);
        record.memory().putInt(IbvWc.WC_FLAGS_OFFSET, WorkCompletion.FLAG_WITH_IMMEDIATE);
        record.memory().putInt(IbvWc.QP_NUM_OFFSET, queuePairNumber);
        record.memory().putLong(IbvWc.WR_ID_OFFSET, WorkRequestId.receive(begin, 0));
        record.memory().putInt(IbvWc.BYTE_LEN_OFFSET, Integer.MAX_VALUE);
        return record.at(0);
    }

    @Test
    void shouldEndAllItsConnectionsWhenTheQueueFails() throws Exception {
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            pair.connect();
            pair.client().pipelines().getFirst().reportQueueFault(sharedQueue(connection.poller()).polled(), FAULT);
            for (int i = 0; i < 2; i++) {
                assertEquals("disconnected FAILED", client.await("disconnected"));
            }
            assertEquals("the completion queue has failed with code " + FAULT, connection.disconnectDetail());
            assertEquals("the completion queue has failed with code " + FAULT + ": close the set",
                assertThrows(IllegalStateException.class, pair::connect).getMessage());
            assertEquals(0, pair.client().connections());
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
        }
    }

    /** A queue of another device may have nothing but the event to show: here the pipeline is paused, so that no poll fails. */
    @Test
    void shouldEndAllItsConnectionsWhenTheDeviceReportsAnErrorOfTheQueue() throws Exception {
        try (ConnectionSet set = sharing().listener(new Echo()).start();
            FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("overrun@" + OVERRUN));
            ConnectionSet failing = sharing().listener(client).start()) {
            final int port = set.listen(0);
            final MessageConnection connection = failing.connect(TestDevice.address(), port);
            failing.connect(TestDevice.address(), port);
            final Pipeline pipeline = failing.pipelines().getFirst();
            assertTrue(connection.execute(() -> {
                pipeline.pause(0);
                for (int i = 0; i < OVERRUN; i++) {
                    connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1);
                }
            }));
            for (int i = 0; i < 2; i++) {
                assertEquals("disconnected FAILED", client.await("disconnected"));
            }
            final String failure = "the completion queue has failed with IBV_EVENT_CQ_ERR";
            assertEquals(failure, connection.disconnectDetail());
            assertEquals(PipelineState.RUNNING, pipeline.state());
            assertTrue(pipeline.resume(SetPair.TEN_SECONDS));
            while (pipeline.counters().sum("queue_faults") == 0) {
                Thread.onSpinWait();
            }
            assertEquals(failure + ": close the set", assertThrows(IllegalStateException.class,
                () -> failing.connect(TestDevice.address(), port)).getMessage());
            assertEquals(0, failing.connections());
            assertTrue(failing.close(SetPair.TEN_SECONDS));
        }
    }

    @Test
    void shouldDescribeAFailureByItsCode() {
        assertEquals("the completion queue has failed with code -1", SharedQueue.describe(-1));
        assertEquals("the completion queue has failed with an exception of its poll",
            SharedQueue.describe(QueueFault.POLL_THREW));
        assertEquals("the completion queue has failed with a refused request for its events",
            SharedQueue.describe(QueueFault.NOTIFICATION_FAILED));
    }

    @Test
    void shouldConnectAndAcceptOnlyWhereTheQueueHasNotFailed() throws Exception {
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> builder.pollers(2), server, client)) {
            for (final ConnectionSet set : List.of(pair.client(), pair.server())) {
                set.pipelines().getLast().reportQueueFault(started(pair, set), FAULT);
            }
            client.await("disconnected");
            server.await("disconnected");
            for (int i = 0; i < 3; i++) {
                assertTrue(pair.connect().isConnected());
            }
        }
    }

    private static SharedQueue sharedQueue(final ConnectionPoller poller) {
        return ((SharedQueuePoller) poller).queue();
    }

    /** The queue of the last poller of a set, after its first connection. */
    private static CompletionQueue started(final SetPair pair, final ConnectionSet set) throws Exception {
        final ConnectionPoller poller = set.pollers().get(1);
        while (poller.connections().get() == 0) {
            pair.connect();
        }
        return sharedQueue(poller).polled();
    }

    @Test
    void shouldEndAConnectWhenTheSetIsClosedDuringALongCallback() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final CountDownLatch asked = new CountDownLatch(1);
        final AcceptFilter slow = (address, data) -> {
            asked.countDown();
            return leave.await(40, TimeUnit.SECONDS);
        };
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, new Echo(), client);
            ConnectionSet silent = sharing().acceptFilter(slow).listener(server).start()) {
            final int port = silent.listen(0);
            assertTrue(pair.connect().execute(() -> {
                entered.countDown();
                awaitOrThrow(leave);
            }));
            assertTrue(entered.await(40, TimeUnit.SECONDS));
            final FutureTask<MessageConnection> connecting = new FutureTask<>(
                () -> pair.client().connect(TestDevice.address(), port, TimeUnit.HOURS.toNanos(1)));
            Thread.ofPlatform().daemon().start(connecting);
            assertTrue(asked.await(40, TimeUnit.SECONDS));
            pair.client().close(0);
            try {
                assertTrue(assertThrows(ExecutionException.class, () -> connecting.get(20, TimeUnit.SECONDS)).getCause()
                    .getMessage().contains(" is closed"));
            } finally {
                leave.countDown();
            }
        }
    }

    /** A queue pair may have left completions in the queue: its room is free when the polling thread has looked. */
    @Test
    void shouldFreeThePlaceOfAFailedConnectWhenTheQueueHasBeenPolled() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> builder.maxConnections(2), new Echo(), client)) {
            final MessageConnection connection = pair.connect();
            assertTrue(connection.execute(() -> {
                entered.countDown();
                awaitOrThrow(leave);
            }));
            assertTrue(entered.await(40, TimeUnit.SECONDS));
            final int unused = unusedPort();
            assertThrows(ConnectException.class,
                () -> pair.client().connect(TestDevice.address(), unused, TimeUnit.MILLISECONDS.toNanos(300)));
            assertEquals(2, pair.client().connections());
            assertTrue(assertThrows(IllegalStateException.class, pair::connect).getMessage().contains("its maximum of 2"));
            leave.countDown();
            while (pair.client().connections() > 1) {
                Thread.onSpinWait();
            }
            pair.connect();
        }
    }

    private static int unusedPort() {
        try (ConnectionSet set = SetPair.builder().listener(new Recorder()).start()) {
            return set.listen(0);
        }
    }

    private static void awaitOrThrow(final CountDownLatch latch) {
        try {
            assertTrue(latch.await(40, TimeUnit.SECONDS));
        } catch (final InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** Without its queue a look throws: the place is free nevertheless. */
    @Test
    void shouldLeaveAPlaceAlsoIfTheLastLookThrows() throws Exception {
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, new Echo(), client)) {
            final SharedQueuePoller poller = (SharedQueuePoller) pair.connect().poller();
            final SharedQueue queue = poller.queue();
            // The look follows without a round between.
            poller.execute(() -> {
                poller.whenDrained(() -> {
                    poller.openQueue(() -> queue);
                    client.add("left");
                });
                poller.openQueue(() -> null);
            });
            client.await("left");
            while (pair.client().listenerExceptions() == 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldLookOnceForAllPlacesThatWait() throws Exception {
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, new Echo(), client)) {
            final MessageConnection connection = pair.connect();
            final ConnectionPoller poller = connection.poller();
            assertTrue(connection.execute(() -> {
                final int before = poller.waitingTasks();
                for (int i = 0; i < 3; i++) {
                    poller.whenDrained(() -> client.add("left, later looks " + poller.waitingTasks()));
                }
                client.add("looks " + (poller.waitingTasks() - before));
            }));
            assertEquals("looks 1", client.await("looks"));
            for (int i = 0; i < 3; i++) {
                assertEquals("left, later looks 0", client.await("left"));
            }
        }
    }

    /** Both ends of the connection have the queue, and each message is answered: the queue is never empty. */
    @Test
    void shouldEndALookAtAQueueThatIsNeverEmpty() throws Exception {
        final AtomicInteger handled = new AtomicInteger();
        final ConnectionListener endless = new ConnectionListener() {
            @Override
            public void onConnected(final MessageConnection connection) {
                connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1);
            }

            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                handled.incrementAndGet();
                return connection.trySend(buffer, offset, length);
            }
        };
        try (ConnectionSet set = sharing().listener(endless).start()) {
            final MessageConnection connection = set.connect(TestDevice.address(), set.listen(0));
            while (handled.get() < MESSAGES) {
                Thread.onSpinWait();
            }
            final FutureTask<Integer> look = new FutureTask<>(handled::get);
            final int[] before = new int[1];
            // The look follows without a round between.
            connection.poller().execute(() -> {
                before[0] = handled.get();
                connection.poller().whenDrained(look);
            });
            final int messages = look.get(40, TimeUnit.SECONDS) - before[0];
            final int most = 2 * set.sizes().completionQueueSize();
            assertTrue(messages <= most, messages + " messages, " + most + " requests");
        }
    }

    /** For instance because its memory cannot be deregistered. */
    @Test
    void shouldLeaveThePlacesBehindOneThatFails() throws Exception {
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, new Echo(), client)) {
            final MessageConnection connection = pair.connect();
            final ConnectionPoller poller = connection.poller();
            assertTrue(connection.execute(() -> {
                poller.whenDrained(() -> {
                    throw new IllegalStateException("a release that fails on purpose");
                });
                poller.whenDrained(() -> client.add("left"));
            }));
            client.await("left");
        }
    }

    /** The connection has been accepted, and its beginning waits for the polling thread, when the pipeline is closed. */
    @Test
    void shouldBeginNoConnectionAfterTheEndOfItsPipeline() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final Recorder busy = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                entered.countDown();
                awaitOrThrow(leave);
                return true;
            }
        };
        try (SetPair pair = SetPair.of(SetKind.SHARED_QUEUE, builder -> { }, busy, client)) {
            final MessageConnection first = pair.connect();
            assertTrue(first.execute(() -> first.trySend(new UnsafeBuffer(new byte[1]), 0, 1)));
            assertTrue(entered.await(40, TimeUnit.SECONDS));
            pair.connect();
            final Pipeline pipeline = pair.server().pipelines().getFirst();
            while (pair.server().pollers().get(0).waitingTasks() == 0) {
                Thread.onSpinWait();
            }
            final Thread closing = Thread.ofPlatform().start(pipeline::close);
            try {
                while (pipeline.state() == PipelineState.RUNNING) {
                    Thread.onSpinWait();
                }
            } finally {
                leave.countDown();
            }
            assertTrue(closing.join(Duration.ofSeconds(40)));
            pair.server().awaitClose();
            assertEquals(List.of("connected", "disconnected FAILED"), busy.all);
            for (int i = 0; i < 2; i++) {
                assertEquals("disconnected PEER_LOST", client.await("disconnected"));
            }
        }
    }

    @Test
    void shouldRefuseWhatCannotShareAQueue() {
        final ConnectionSetBuilder overLibrpma = SetPair.builder().sharedCompletionQueue().listener(server);
        assertEquals("connections over librpma share no completion queue: set overVerbs() or a domain, or leave out " +
            "sharedCompletionQueue()", assertThrows(IllegalArgumentException.class, overLibrpma::start).getMessage());
        final ConnectionSetBuilder large = sharing().maxConnections(Integer.MAX_VALUE).listener(server);
        final String message = assertThrows(IllegalArgumentException.class, large::start).getMessage();
        assertTrue(message.startsWith("maxConnections is 2147483647 and messagesInFlight is 8, which need a shared completion " +
            "queue of "), message);
        assertTrue(message.endsWith("; reduce one of them, or share no completion queue"), message);
    }
}
