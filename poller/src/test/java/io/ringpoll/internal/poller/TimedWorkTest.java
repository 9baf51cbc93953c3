package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.ScriptedQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Work of the handlers for a time. The time-out of a sleep exceeds the tests' time limit. */
@Timeout(120)
class TimedWorkTest {
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final int SLOTS = 64;

    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final ArraySlots slots = new ArraySlots(SLOTS, SLOTS);
    private final Alarm alarm = new Alarm();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private int clockReads;
    private final CompletionPoller poller = new CompletionPoller("poller", slots, alarm, 1, false, counters, errors::add, () -> {
        clockReads++;
        return System.nanoTime();
    });
    private PollerLoop loop;
    private Thread thread;

    /** Work for one time. */
    private static final class Alarm implements TimedWork, RingHandlers {
        private long dueNs;
        private boolean pending;
        private volatile int runs;
        private volatile boolean early;

        void set(final long delayNs) {
            dueNs = System.nanoTime() + delayNs;
            pending = true;
        }

        @Override
        public boolean runInPlace() {
            // One batch in each duty cycle.
            return true;
        }

        @Override
        public TimedWork timedWork() {
            return this;
        }

        @Override
        public boolean isPending() {
            return pending;
        }

        @Override
        public long leftNs(final long nowNs) {
            return dueNs - nowNs;
        }

        @Override
        public void run(final long nowNs) {
            if (leftNs(nowNs) <= 0) {
                early |= System.nanoTime() - dueNs < 0;
                pending = false;
                runs++;
            }
        }
    }

    @AfterEach
    void end() throws InterruptedException {
        if (thread != null) {
            loop.stop();
            Waiting.awaitEnd(thread);
        }
        assertEquals(List.of(), errors);
    }

    private void start(final IdleStrategy idle) {
        loop = new PollerLoop(poller, idle, -1, errors::add);
        thread = Thread.ofPlatform().daemon().start(() -> {
            loop.onStart();
            loop.run();
        });
    }

    @Test
    void shouldBeDoneWhileEachRoundHasWork() {
        final ScriptedQueue queue = new ScriptedQueue("a");
        for (int i = 0; i < SLOTS; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        poller.queues().add(queue);
        alarm.set(0);
        for (int i = 0; i < PollTally.CYCLES; i++) {
            assertEquals(1, poller.doWork());
        }
        assertEquals(1, alarm.runs);
        poller.onClose();
    }

    @Test
    void shouldNotReadTheClockWithoutAny() {
        poller.queues().add(new ScriptedQueue("a"));
        for (int i = 0; i < 100; i++) {
            poller.doWork();
            poller.runTimedWork();
        }
        assertEquals(0, clockReads);
        poller.onClose();
    }

    @Test
    void shouldEndASleep(@TempDir final Path folder) throws IOException, InterruptedException {
        try (Fifo channel = new Fifo(folder)) {
            final EventSleeper idle = poller.sleepOnEvents(new EventDrivenIdle(0, HOUR_NS));
            poller.queues().add(new NotifyingScriptedQueue("a", channel));
            poller.onStart();
            // Again if it was due before the sleep, on a busy machine.
            while (counters.sleepTimeouts.get() == 0) {
                if (!alarm.isPending()) {
                    alarm.set(TimeUnit.MILLISECONDS.toNanos(20));
                }
                poller.doWork();
                // Arms at the first call, sleeps at the second.
                idle.idle(0);
                poller.runTimedWork();
            }
            final long sleeps = counters.sleeps();
            alarm.set(0);
            idle.idle(0);
            assertEquals(sleeps, counters.sleeps(), "it is due");
            poller.onClose();
        }
        assertFalse(alarm.early);
    }

    @Test
    void shouldBeDoneByALoopThatSleeps(@TempDir final Path folder) throws IOException, InterruptedException {
        try (Fifo channel = new Fifo(folder)) {
            loop = new PollerLoop(poller, new EventDrivenIdle(0, HOUR_NS), -1, errors::add);
            poller.queues().add(new NotifyingScriptedQueue("a", channel));
            thread = Thread.ofPlatform().daemon().start(() -> {
                loop.onStart();
                loop.run();
            });
            for (int i = 1; i <= 20; i++) {
                final int runs = i;
                poller.execute(() -> alarm.set(TimeUnit.MILLISECONDS.toNanos(runs)));
                Waiting.await(() -> alarm.runs == runs);
            }
            loop.stop();
            Waiting.awaitEnd(thread);
        }
        assertFalse(alarm.early);
    }

    @Test
    void shouldBeDoneAfterEachParkOfTheIdleStrategy() {
        final int[] idles = new int[1];
        start(new IdleStrategy() {
            @Override
            public void idle(final int workCount) {
                idle();
            }

            @Override
            public void idle() {
                if (alarm.runs == idles[0] && idles[0] < 10) {
                    // Not due before.
                    idles[0]++;
                    alarm.set(0);
                } else if (idles[0] < 10) {
                    errors.add(new AssertionError(alarm.runs + " runs in " + idles[0] + " parks"));
                }
            }

            @Override
            public void reset() {
                // Has no state.
            }
        });
        Waiting.await(() -> alarm.runs == 10);
    }

    @Test
    void shouldBeDoneWhileThePollerIsPaused() throws Exception {
        start(NoOpIdleStrategy.INSTANCE);
        poller.pause(Deadline.after(HOUR_NS));
        poller.execute(() -> alarm.set(0));
        Waiting.await(() -> alarm.runs == 1);
        assertTrue(poller.isPaused());
    }
}
