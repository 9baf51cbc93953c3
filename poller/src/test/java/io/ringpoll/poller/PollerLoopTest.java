package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class PollerLoopTest {
    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounters counters = new PollerCounters(TestCounters.create(), "poller");
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
        thread.join();
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldIdleByTheStrategyWhenAllQueuesAreEmpty() {
        poller.queues().add(new ScriptedQueue("a"));
        thread.start();
        while (idle.emptyRounds < 10) {
            Thread.yield();
        }
    }

    @Test
    void shouldTellTheStrategyOfWorkSoThatItStartsAfresh() {
        poller.queues().add(new ScriptedQueue("a").add(1, WcStatus.SUCCESS, WcOpcode.SEND));
        thread.start();
        while (idle.emptyRounds == 0) {
            Thread.yield();
        }
        assertEquals(1, idle.work);
    }

    @Test
    void shouldNeverParkNorIdleByTheStrategyWhileTheRingIsFull() throws InterruptedException {
        final ArraySlots none = new ArraySlots(64, 0);
        final CompletionPoller stalled = new CompletionPoller("poller", none, 4, counters);
        stalled.queues().add(new ScriptedQueue("a"));
        final PollerLoop full = new PollerLoop(stalled, idle, -1, errors::add);
        final Thread stalledThread = new Thread(full);
        stalledThread.start();
        boolean parked = false;
        while (counters.ringFull() < 20_000) {
            final Thread.State state = stalledThread.getState();
            parked |= state == Thread.State.TIMED_WAITING || state == Thread.State.WAITING;
        }
        full.stop();
        stalledThread.join();
        assertFalse(parked);
        assertEquals(0, idle.emptyRounds + idle.work);
    }

    @Test
    void shouldSleepAndNotSpinWhileItIsPaused() throws Exception {
        poller.queues().add(new ScriptedQueue("a"));
        thread.start();
        poller.pause(System.nanoTime() + TimeUnit.SECONDS.toNanos(5));
        final long before = counters.polls();
        boolean slept = false;
        for (int i = 0; i < 1000 && !slept; i++) {
            slept = thread.getState() == Thread.State.TIMED_WAITING;
            Thread.sleep(1);
        }
        assertTrue(slept);
        assertEquals(before, counters.polls());
        poller.resume(System.nanoTime() + TimeUnit.SECONDS.toNanos(5));
        while (counters.polls() == before) {
            Thread.yield();
        }
    }

    /** Counts how it was called. */
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
