package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Outcome;
import io.ringpoll.bench.handoff.Work;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SyntheticContestantTest {
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(100);

    @Test
    void shouldCountCompletionsHandledAfterTheEndOfTheirTurn() {
        Device.choose(DeviceKind.LOOPBACK);
        try (SyntheticSource source = SyntheticSource.open()) {
            final HotThreads threads =
                new HotThreads(1, 8192, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
            final LatencyWindow window =
                new SyntheticContestant(new LateHandOff(), source, Schedule.rate(1000), threads).run(new Turn(0, 0, TURN_NS, 0));
            assertEquals("", window.fault());
            assertEquals(100, window.latencyNs().getTotalCount());
            assertEquals(0, window.onTime());
            assertTrue(window.latencyNs().getMinValue() > TURN_NS, "the last was due in the turn and handled long after it");
        }
    }

    /** Handles nothing until long after the turn. */
    private static final class LateHandOff implements HandOff {
        private static final long DELAY_NS = TimeUnit.MILLISECONDS.toNanos(300);

        @Override
        public String label() {
            return "late";
        }

        @Override
        public Running start(final Job job) {
            final LateRun run = new LateRun(job);
            run.thread.start();
            return run;
        }
    }

    /** Polls and handles, too late. */
    private static final class LateRun implements HandOff.Running {
        private final Job job;
        private final Work work;
        private final Thread thread = new Thread(this::run, "bench-late");
        private volatile long handled;
        private volatile boolean stopped;

        LateRun(final Job job) {
            this.job = job;
            this.work = Work.of(job);
        }

        private void run() {
            // From the end of the turn: the turn may begin long after this thread.
            Deadline.after(job.recordUntilNs() + LateHandOff.DELAY_NS - System.nanoTime()).await(() -> stopped);
            final WorkCompletions record = WorkCompletions.allocate(1);
            final WorkCompletion completion = record.show(0, new WorkCompletion());
            while (!stopped) {
                if (job.queue().poll(record, 0, 1) > 0) {
                    work.onCompletion(completion.workRequestId());
                    handled = work.completions();
                } else {
                    Thread.yield();
                }
            }
        }

        @Override
        public long polled() {
            return handled;
        }

        @Override
        public long handled() {
            return handled;
        }

        @Override
        public Outcome stop() {
            stopped = true;
            try {
                thread.join();
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            return new Outcome(handled, handled, work.sum(), work.latencyNs(), "");
        }
    }
}
