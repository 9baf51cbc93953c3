package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PollerLoopTest {
    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, 4, counters);
    private final CountingIdle idle = new CountingIdle();
    private final List<Throwable> errors = new ArrayList<>();
    private final PollerLoop loop = new PollerLoop(poller, idle, TimeUnit.SECONDS.toNanos(5), errors::add);
    private final Thread thread = new Thread(() -> {
        loop.onStart();
        loop.run();
    });

    @AfterEach
    void stop() throws InterruptedException {
        loop.stop();
        Waiting.awaitEnd(thread);
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldCallTheIdleStrategyWhenAllQueuesAreEmpty() {
        poller.queues().add(new ScriptedQueue("a"));
        thread.start();
        Waiting.await(() -> idle.emptyRounds >= 10);
    }

    @Test
    void shouldResetTheIdleStrategyAfterWork() {
        poller.queues().add(new ScriptedQueue("a").add(1, WcStatus.SUCCESS, WcOpcode.SEND));
        thread.start();
        Waiting.await(() -> idle.emptyRounds > 0);
        assertEquals(1, idle.work);
    }

    @Test
    void shouldNeitherParkNorCallTheIdleStrategyWhileTheRingIsFull() {
        final AtomicReference<PollerLoop> full = new AtomicReference<>();
        final int[] claims = new int[1];
        final ArraySlots none = new ArraySlots(64, 0).claimedBy(() -> {
            if (++claims[0] == 2_000) {
                full.get().stop();
            }
        });
        final CompletionPoller stalled = new CompletionPoller("poller", none, 4, counters);
        stalled.queues().add(new ScriptedQueue("a"));
        full.set(new PollerLoop(stalled, idle, -1, errors::add));
        // A permit of this thread, which the first park consumes.
        LockSupport.unpark(Thread.currentThread());
        full.get().onStart();
        full.get().run();
        assertEquals(2_000, counters.ringFull());
        assertEquals(0, idle.emptyRounds + idle.work);
        assertTrue(hasPermit(), "the thread has parked");
    }

    @Test
    void shouldNotMeasureTheTimeInTheIdleStrategy() {
        final CachedNanoClock clock = new CachedNanoClock();
        final CompletionPoller measured = measured(slots, clock);
        final AtomicReference<PollerLoop> sleeping = new AtomicReference<>();
        final int[] sleeps = new int[1];
        final IdleStrategy sleepingIdle = new CountingIdle() {
            @Override
            public void idle(final int workCount) {
                clock.advance(1_000_000);
                if (++sleeps[0] == 3) {
                    sleeping.get().stop();
                }
            }
        };
        sleeping.set(new PollerLoop(measured, sleepingIdle, 0, errors::add));
        runHere(sleeping.get());
        assertEquals(3, sleeps[0]);
        assertEquals(0, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldNotMeasureTheTimeForWhichItYieldsWhileTheRingIsFull() {
        final AtomicReference<PollerLoop> full = new AtomicReference<>();
        final int spins = 200;
        final int[] cycles = new int[1];
        final int[] readings = new int[1];
        final boolean[] hasEnded = new boolean[1];
        final ArraySlots none = new ArraySlots(64, 0).claimedBy(() -> {
            readings[0] = 0;
            if (++cycles[0] == 2 * spins) {
                full.get().stop();
            }
        });
        // The second reading of a cycle ends it. The thread then yields, so that the next reading is a second later.
        final CompletionPoller stalled = measured(none, timeAfter(() -> {
            final boolean yielded = hasEnded[0];
            hasEnded[0] = ++readings[0] == 2 && cycles[0] > spins;
            return yielded;
        }));
        stalled.queues().add(new ScriptedQueue("a"));
        full.set(new PollerLoop(stalled, idle, 0, errors::add));
        runHere(full.get());
        assertEquals(2 * spins, counters.ringFull());
        assertEquals(0, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldNotMeasureTheTimeForWhichItParksWhilePaused() throws TimeoutException {
        final AtomicReference<PollerLoop> parking = new AtomicReference<>();
        final int[] readings = new int[1];
        // The first reading begins the first cycle; the next ones end a cycle and begin another in turns.
        final CompletionPoller paused = measured(slots, timeAfter(() -> {
            if (readings[0] == 20) {
                parking.get().stop();
            }
            return ++readings[0] % 2 == 1;
        }));
        paused.pause(Deadline.after(0));
        parking.set(new PollerLoop(paused, idle, 0, errors::add));
        runHere(parking.get());
        assertEquals(0, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldMeasureTheFirstCycleWithWorkAloneAfterIdleOnes() {
        final CachedNanoClock clock = new CachedNanoClock();
        final AtomicReference<PollerLoop> spinning = new AtomicReference<>();
        final int[] readings = new int[1];
        final CompletionPoller measured = measured(slots.handledBy(() -> spinning.get().stop()), () -> {
            readings[0]++;
            return clock.nanoTime();
        });
        final ScriptedQueue queue = new ScriptedQueue("a");
        measured.queues().add(queue);
        final int[] cycles = new int[1];
        slots.claimedBy(() -> {
            clock.advance(10);
            // The first cycle ends alone, the next two together.
            if (++cycles[0] == 4) {
                assertEquals(3, readings[0]);
                queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            }
        });
        spinning.set(new PollerLoop(measured, NoOpIdleStrategy.INSTANCE, TimeUnit.SECONDS.toNanos(1), errors::add));
        runHere(spinning.get());
        assertEquals(4, readings[0]);
    }

    @Test
    void shouldReportAFatalExceptionAndEndThePoller() {
        final IllegalStateException thrown = new IllegalStateException("provoked");
        final ArraySlots failing = new ArraySlots(64, 64).claimedBy(() -> {
            throw thrown;
        });
        final CompletionPoller ending = new CompletionPoller("poller", failing, 4, counters);
        ending.queues().add(new ScriptedQueue("a"));
        final List<Throwable> reported = new ArrayList<>();
        final PollerLoop endingLoop = new PollerLoop(ending, idle, -1, reported::add);
        endingLoop.onStart();
        endingLoop.run();
        assertEquals(List.of(thrown), reported);
        assertEquals(PollerState.ENDED, ending.state());
    }

    @Test
    void shouldEndThePollerThoughTheErrorHandlerThrows() {
        final ArraySlots failing = new ArraySlots(64, 64).claimedBy(() -> {
            throw new IllegalStateException("provoked");
        });
        final CompletionPoller ending = new CompletionPoller("poller", failing, 4, counters);
        ending.queues().add(new ScriptedQueue("a"));
        final IllegalStateException unreported = new IllegalStateException("unreported");
        final PollerLoop endingLoop = new PollerLoop(ending, idle, -1, failure -> {
            throw unreported;
        });
        endingLoop.onStart();
        assertSame(unreported, assertThrows(IllegalStateException.class, endingLoop::run));
        assertEquals(PollerState.ENDED, ending.state());
    }

    @Test
    void shouldSleepWhilePaused() throws Exception {
        poller.queues().add(new ScriptedQueue("a"));
        thread.start();
        poller.pause(Deadline.after(TimeUnit.SECONDS.toNanos(50)));
        final long before = counters.polls();
        Waiting.await(() -> thread.getState() == Thread.State.TIMED_WAITING);
        assertEquals(before, counters.polls());
        poller.resume(Deadline.after(TimeUnit.SECONDS.toNanos(50)));
        Waiting.await(() -> counters.polls() > before);
    }

    private CompletionPoller measured(final ArraySlots destination, final NanoClock clock) {
        return new CompletionPoller("poller", destination, destination, 4, false, counters, errors::add, clock);
    }

    /** A clock that advances by a second before each reading for which the condition holds. */
    private static NanoClock timeAfter(final BooleanSupplier advances) {
        final CachedNanoClock clock = new CachedNanoClock();
        return () -> {
            if (advances.getAsBoolean()) {
                clock.advance(TimeUnit.SECONDS.toNanos(1));
            }
            return clock.nanoTime();
        };
    }

    private static void runHere(final PollerLoop loop) {
        loop.onStart();
        loop.run();
    }

    /** Whether a park returns immediately. */
    private static boolean hasPermit() {
        final long startNs = System.nanoTime();
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(20));
        return System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(10);
    }

    /** Records its calls. */
    private static class CountingIdle implements IdleStrategy {
        private volatile int emptyRounds;
        private volatile int work;

        @Override
        public void idle(final int workCount) {
            if (workCount == 0) {
                emptyRounds++;
            } else {
                work += workCount;
            }
        }

        @Override
        public void idle() {
            emptyRounds++;
        }

        @Override
        public void reset() {
            work = 0;
        }
    }
}
