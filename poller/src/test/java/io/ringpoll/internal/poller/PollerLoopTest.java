package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;
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
    void shouldSleepWhilePaused() throws Exception {
        poller.queues().add(new ScriptedQueue("a"));
        thread.start();
        poller.pause(System.nanoTime() + TimeUnit.SECONDS.toNanos(5));
        final long before = counters.polls();
        Waiting.await(() -> thread.getState() == Thread.State.TIMED_WAITING);
        assertEquals(before, counters.polls());
        poller.resume(System.nanoTime() + TimeUnit.SECONDS.toNanos(5));
        Waiting.await(() -> counters.polls() > before);
    }

    /** Whether a park returns immediately. */
    private static boolean hasPermit() {
        final long startNs = System.nanoTime();
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(20));
        return System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(10);
    }

    /** Records its calls. */
    private static final class CountingIdle implements IdleStrategy {
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
