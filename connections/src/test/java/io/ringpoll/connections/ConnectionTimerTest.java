package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Timers of connections, and the call of an idle listener. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(TestDevice.TAG)
class ConnectionTimerTest {
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    /** Longer than the time limit: what sleeps for this time fails. */
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);
    private static final long TIMEOUT_S = 50;
    /** Fewer than messages in flight: a slow server may have returned no credit yet. */
    private static final int HEARTBEATS = 6;

    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();

    private SetPair pair(final WaitMode wait, final int pollers) {
        return SetPair.of(builder -> builder.pollers(pollers).errorHandler(errors::add).pipelines(i -> Pipeline.builder()
            .name("timers-" + i).withoutCountersFile().idleStrategy(idle(wait))), server, client);
    }

    private static IdleStrategy idle(final WaitMode wait) {
        return wait == WaitMode.BLOCK ? new EventDrivenIdle(0, HOUR) : wait.newIdleStrategy();
    }

    private SetPair pair() {
        return pair(WaitMode.YIELD, 1);
    }

    /** Executes an action on the polling thread, and waits for its result. */
    private static <T> T on(final MessageConnection connection, final Callable<T> action) throws Exception {
        final FutureTask<T> task = new FutureTask<>(action);
        assertTrue(connection.execute(task));
        return task.get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldSendHeartbeatsOnThePollingThreadNotBeforeTheirTimes(final WaitMode wait) throws Exception {
        final UnsafeBuffer message = new UnsafeBuffer("heartbeat".getBytes());
        try (SetPair pair = pair(wait, 1)) {
            final MessageConnection connection = pair.connect();
            final List<Long> times = new CopyOnWriteArrayList<>();
            final CompletableFuture<Thread> thread = new CompletableFuture<>();
            final ConnectionTimer[] timer = new ConnectionTimer[1];
            timer[0] = connection.newTimer(() -> {
                times.add(System.nanoTime());
                assertFalse(timer[0].isScheduled());
                assertTrue(connection.trySend(message, 0, message.capacity()));
                if (times.size() < HEARTBEATS) {
                    assertTrue(timer[0].schedule(2 * MILLISECOND));
                } else {
                    thread.complete(Thread.currentThread());
                }
            });
            final long startNs = on(connection, () -> {
                final long nowNs = System.nanoTime();
                assertTrue(timer[0].schedule(2 * MILLISECOND));
                assertTrue(timer[0].isScheduled());
                return nowNs;
            });
            assertSame(pair.client().pipelines().getFirst().pollerThread(), thread.get(TIMEOUT_S, TimeUnit.SECONDS));
            for (int i = 0; i < HEARTBEATS; i++) {
                assertEquals("message heartbeat", server.await("message"));
                assertTrue(times.get(i) - startNs >= 2 * (i + 1) * MILLISECOND, "too early");
            }
            assertEquals(0, on(connection, () -> pair.client().pollers().get(0).timers().size()));
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldExecuteATimerThatIsScheduledAgainOnceAtItsLastTime() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final List<String> executed = new CopyOnWriteArrayList<>();
            final ConnectionTimer earlier = connection.newTimer(() -> executed.add("earlier"));
            final ConnectionTimer later = connection.newTimer(() -> executed.add("later"));
            final CompletableFuture<Void> end = new CompletableFuture<>();
            final ConnectionTimer last = connection.newTimer(() -> end.complete(null));
            assertTrue(on(connection, () -> earlier.schedule(HOUR) && later.schedule(0) && later.schedule(6 * MILLISECOND) &&
                earlier.schedule(3 * MILLISECOND) && last.schedule(9 * MILLISECOND)));
            end.get(TIMEOUT_S, TimeUnit.SECONDS);
            assertEquals(List.of("earlier", "later"), executed);
        }
    }

    @Test
    void shouldNotExecuteACanceledTimer() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final ConnectionTimer canceled = connection.newTimer(() -> client.add("canceled"));
            final ConnectionTimer other = connection.newTimer(() -> client.add("other"));
            assertTrue(on(connection, () -> {
                assertFalse(canceled.cancel(), "not scheduled yet");
                return canceled.schedule(0) && other.schedule(2 * MILLISECOND) && canceled.cancel() && !canceled.isScheduled();
            }));
            client.await("other");
            assertFalse(client.all.contains("canceled"));
            assertFalse(on(connection, other::cancel), "has been executed");
        }
    }

    /** Also with one that is removed from the middle, which takes the last one to its place. */
    @Test
    void shouldExecuteManyTimersInTheOrderOfTheirTimes() throws Exception {
        final int count = 3000;
        final Random random = new Random(7);
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final MessageConnection other = pair.connect();
            final List<Long> due = Collections.synchronizedList(new ArrayList<>());
            final List<ConnectionTimer> timers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                final int number = i;
                timers.add((i % 5 == 0 ? other : connection).newTimer(() -> due.add(timers.get(number).dueNs)));
            }
            final int left = on(connection, () -> {
                for (final ConnectionTimer timer : timers) {
                    assertTrue(timer.schedule(50 * MILLISECOND + random.nextInt(1_000_000)));
                }
                int canceled = 0;
                for (int i = 0; i < count; i++) {
                    final ConnectionTimer timer = timers.get(random.nextInt(count));
                    if (i % 3 == 0) {
                        assertTrue(timer.schedule(50 * MILLISECOND + random.nextInt(1_000_000)));
                    } else if (timer.cancel()) {
                        canceled++;
                    }
                }
                pair.client().pollers().get(0).timers().removeAll(other);
                for (int i = 0; i < count; i += 5) {
                    assertFalse(timers.get(i).isScheduled(), "timer " + i);
                }
                return (int) timers.stream().filter(ConnectionTimer::isScheduled).count();
            });
            assertTrue(left > count / 5, left + " timers");
            while (due.size() < left) {
                Thread.sleep(1);
            }
            assertEquals(due.stream().sorted().toList(), List.copyOf(due));
            assertEquals(0, on(connection, () -> pair.client().pollers().get(0).timers().size()));
        }
    }

    @Test
    void shouldTakeAnyDelay() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final ConnectionTimer never = connection.newTimer(() -> client.add("never"));
            final ConnectionTimer longest = connection.newTimer(() -> client.add("longest"));
            final ConnectionTimer now = connection.newTimer(() -> client.add("now"));
            final ConnectionTimer past = connection.newTimer(() -> client.add("past"));
            final ConnectionTimer overdue = connection.newTimer(() -> client.add("overdue"));
            assertTrue(on(connection, () -> {
                assertTrue(overdue.schedule(0));
                // Its time is over when the longest delay begins: their distance is longer than that delay.
                final long dueNs = overdue.dueNs;
                while (System.nanoTime() - dueNs <= 0) {
                    Thread.onSpinWait();
                }
                assertTrue(never.schedule(Long.MAX_VALUE) && now.schedule(0) && past.schedule(Long.MIN_VALUE));
                return longest.schedule(HOUR) && !client.all.contains("now");
            }));
            client.await("overdue");
            client.await("now");
            client.await("past");
            assertTrue(on(connection, () -> never.isScheduled() && longest.isScheduled()));
        }
        assertFalse(client.all.contains("never") || client.all.contains("longest"), client.all::toString);
    }

    /** It would execute nothing else. */
    @Test
    void shouldGoOnPollingWithATimerThatIsAlwaysDue() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final ConnectionTimer[] timer = new ConnectionTimer[1];
            timer[0] = connection.newTimer(() -> timer[0].schedule(-1));
            assertTrue(on(connection, () -> timer[0].schedule(0)));
            final UnsafeBuffer message = new UnsafeBuffer("polled".getBytes());
            assertTrue(on(connection, () -> connection.trySend(message, 0, message.capacity())));
            assertEquals("message polled", server.await("message"));
            pair.server().close();
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
        }
    }

    @Test
    void shouldCountTheExceptionOfATimer() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final ConnectionTimer throwing = connection.newTimer(() -> {
                throw new AssertionError("thrown by the timer");
            });
            final ConnectionTimer next = connection.newTimer(() -> client.add("next"));
            assertTrue(on(connection, () -> throwing.schedule(0) && next.schedule(0)));
            client.await("next");
            assertEquals(1, pair.client().listenerExceptions());
            assertTrue(on(connection, () -> throwing.schedule(0)));
            while (pair.client().listenerExceptions() < 2) {
                Thread.sleep(1);
            }
            assertEquals("thrown by the timer", errors.getFirst().getMessage());
        }
    }

    @Test
    void shouldRefuseOtherThreads() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final ConnectionTimer timer = connection.newTimer(() -> { });
            final String refusal = assertThrows(IllegalStateException.class, () -> timer.schedule(0)).getMessage();
            assertTrue(refusal.endsWith(": call execute"), refusal);
            assertThrows(IllegalStateException.class, timer::cancel);
            assertEquals("the task is null",
                assertThrows(NullPointerException.class, () -> connection.newTimer(null)).getMessage());
        }
    }

    @Test
    void shouldExecuteNoTimerOfAConnectionThatEnds() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final MessageConnection other = pair.connect();
            final ConnectionTimer due = connection.newTimer(() -> client.add("executed"));
            final ConnectionTimer late = connection.newTimer(() -> client.add("executed"));
            final ConnectionTimer ofOther = other.newTimer(() -> client.add("other"));
            assertTrue(on(connection, () -> {
                assertTrue(due.schedule(0) && late.schedule(HOUR) && ofOther.schedule(HOUR));
                connection.close();
                return !due.schedule(0);
            }));
            assertEquals("disconnected CLOSED", client.await("disconnected"));
            assertEquals(1, on(other, () -> pair.client().pollers().get(0).timers().size()));
            assertFalse(on(other, late::isScheduled));
            assertTrue(on(other, ofOther::isScheduled));
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertFalse(ofOther.schedule(0));
            assertFalse(ofOther.cancel());
            assertFalse(ofOther.isScheduled());
            assertEquals(0, pair.client().pollers().get(0).timers().size());
        }
        assertFalse(client.all.contains("executed") || client.all.contains("other"), client.all::toString);
    }

    @Test
    void shouldExecuteTimersOfEachPollingThreadThere() throws Exception {
        try (SetPair pair = pair(WaitMode.BLOCK, 2)) {
            final List<MessageConnection> connections = List.of(pair.connect(), pair.connect());
            assertEquals(List.of(0, 1), connections.stream().map(MessageConnection::pollerIndex).sorted().toList());
            for (final MessageConnection connection : connections) {
                final CompletableFuture<Thread> thread = new CompletableFuture<>();
                final ConnectionTimer timer = connection.newTimer(() -> thread.complete(Thread.currentThread()));
                assertTrue(on(connection, () -> timer.schedule(MILLISECOND)));
                assertSame(pair.client().pipelines().get(connection.pollerIndex()).pollerThread(),
                    thread.get(TIMEOUT_S, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void shouldExecuteTimersWhileThePipelineIsPaused() throws Exception {
        try (SetPair pair = pair()) {
            final MessageConnection connection = pair.connect();
            final Pipeline pipeline = pair.client().pipelines().getFirst();
            assertTrue(pipeline.pause(SetPair.TEN_SECONDS));
            final ConnectionTimer timer = connection.newTimer(() -> client.add("executed"));
            assertTrue(on(connection, () -> timer.schedule(MILLISECOND)));
            client.await("executed");
            assertTrue(pipeline.resume(SetPair.TEN_SECONDS));
        }
    }

    /** A runner may sleep after each duty cycle without work. */
    @Test
    void shouldExecuteTimersInTheNextDutyCycleOfAnAgent() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).errorHandler(errors::add)
                .pipelines(i -> Pipeline.builder().name("timers").withoutCountersFile()).asAgent().start();
            AgentInvoker invoker = new AgentInvoker(errors::add, null, clients.agents().getFirst())) {
            invoker.start();
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0));
            final List<Thread> threads = new ArrayList<>();
            final ConnectionTimer timer = connection.newTimer(() -> {
                threads.add(Thread.currentThread());
                final String refusal =
                    assertThrows(IllegalStateException.class, clients::awaitClose, "a task cannot wait").getMessage();
                assertTrue(refusal.startsWith("a callback cannot wait for the close"), refusal);
            });
            for (int i = 0; i < 100; i++) {
                // Between two duty cycles.
                assertTrue(timer.schedule(0));
                invoker.invoke();
            }
            // A cycle with work does without.
            assertTrue(threads.size() > 90, threads.size() + " of 100");
            assertEquals(List.of(Thread.currentThread()), threads.stream().distinct().toList());
        }
        assertEquals(List.of(), errors);
    }

    /** Records the calls, of which the first one throws. */
    private static final class Idler extends Recorder {
        /** Two threads call. */
        private final AtomicBoolean hasThrown = new AtomicBoolean();

        @Override
        public void onIdle(final int pollerIndex) throws Exception {
            add("idle " + pollerIndex + " on " + Thread.currentThread().getName());
            if (hasThrown.compareAndSet(false, true)) {
                throw new Exception("thrown by an idle listener");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = WaitMode.class, names = {"YIELD", "BLOCK"})
    void shouldCallAnIdleListenerOnEachPollingThread(final WaitMode wait) throws Exception {
        final Idler idler = new Idler();
        try (ConnectionSet set = SetPair.builder().listener(idler).errorHandler(errors::add).pollers(2)
            .idleTimeoutNs(2 * MILLISECOND).pipelines(i -> Pipeline.builder().name("idle-" + i).withoutCountersFile()
                .idleStrategy(idle(wait))).start()) {
            for (final int index : IntStream.range(0, 2).toArray()) {
                final String call = "idle " + index + " on " + set.pipelines().get(index).pollerThread().getName();
                // Again and again.
                idler.await(call);
                idler.await(call);
                idler.await(call);
            }
        }
        assertEquals("thrown by an idle listener", errors.getFirst().getMessage());
        assertEquals(1, errors.size());
    }

    @Test
    void shouldCallNoIdleListenerWithoutATimeOut() throws Exception {
        final Idler idler = new Idler();
        try (ConnectionSet set = SetPair.builder().listener(idler).start()) {
            Thread.sleep(50);
            assertEquals("the idle time-out is negative", assertThrows(IllegalArgumentException.class,
                SetPair.builder().listener(idler).idleTimeoutNs(-1)::start).getMessage());
            assertEquals(0, set.listenerExceptions());
        }
        assertEquals(List.of(), idler.all);
    }
}
