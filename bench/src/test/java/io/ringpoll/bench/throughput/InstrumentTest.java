package io.ringpoll.bench.throughput;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Difference;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.pipeline.WaitMode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the measuring instrument: it shows no difference between equals, and shows one of a tenth.
 *
 * <p>An interval of 95 % excludes the true value in one of twenty measurements, and on a busy machine the interval of a short one
 * is too wide to show a tenth: a measurement is repeated with more rounds. An instrument with a bias, for instance one that
 * favours the first of each round, fails all attempts. If other programs used the CPUs and too few turns are valid, the
 * measurement does not count and is repeated.
 */
@Tag("figures")
@Timeout(300)
class InstrumentTest {
    private static final int ATTEMPTS = 5;
    /** Of the first attempt, and twice as many in each further one. */
    private static final int ROUNDS = 24;
    private static final int WINDOW_MS = 15;
    private static final int LEAD_IN_MS = 10;
    /** For all measurements together, of which one takes two seconds, and each further attempt twice as long. */
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(150);

    @Test
    void shouldShowNoDifferenceBetweenRingpollAndItself() {
        shouldShow(Difference.NOT_SHOWN, new RingpollHandOff(), new RingpollHandOff());
    }

    @Test
    void shouldShowNoDifferenceBetweenCAndItself() {
        shouldShow(Difference.NOT_SHOWN, CHandOff.withThreads(), CHandOff.withThreads());
    }

    @Test
    void shouldShowThatAPollerThatPausesForATenthOfItsTimeCostsMore() {
        shouldShow(Difference.HIGHER, new Pausing(new RingpollHandOff(), true), new Pausing(new RingpollHandOff(), false));
    }

    private static void shouldShow(final Difference difference, final HandOff ours, final HandOff theirs) {
        final StringBuilder seen = new StringBuilder();
        final long startNs = System.nanoTime();
        int seed = 0;
        int attempts = 0;
        while (attempts < ATTEMPTS) {
            final Optional<BenchResult> result = measure(ours, new Labelled(theirs, "other"), ROUNDS << attempts, seed++);
            if (result.isEmpty() || result.get().difference() == Difference.TOO_FEW_RUNS) {
                assertTrue(System.nanoTime() - startNs < LIMIT_NS, () -> "too few turns had their CPUs: " + result);
                continue;
            }
            if (result.get().difference() == difference) {
                return;
            }
            seen.append(result.get().ratioText()).append(' ');
            attempts++;
        }
        throw new AssertionError("'" + difference + "' in none of " + ATTEMPTS + " measurements: " + seen);
    }

    private static Optional<BenchResult> measure(final HandOff ours, final HandOff theirs, final int rounds, final int seed) {
        final ThroughputReport report = new ThroughputMeasurement(new ThroughputConfig(
            1, RingpollHandOff.Mode.SINGLE, List.of(Regime.CLOSE), List.of(ours, theirs), rounds, 4, 1024, 32, WaitMode.YIELD,
            HotCpus.unpinned(), LEAD_IN_MS, WINDOW_MS, seed),
            Optional.empty(), null).run();
        assertEquals(List.of(), report.faults());
        return report.results().stream().findFirst();
    }

    /** A hand-off under another label. */
    private record Labelled(HandOff handOff, String label) implements HandOff {
        @Override
        public Running start(final Job job) {
            return handOff.start(job);
        }
    }

    /** A hand-off with a queue that lets its poller wait for a tenth of the time, or with the same queue without the pauses. */
    private record Pausing(HandOff handOff, boolean pauses) implements HandOff {
        @Override
        public String label() {
            return handOff.label();
        }

        @Override
        public Running start(final Job job) {
            return handOff.start(new Job(new PausingQueue(job.queue(), pauses), job.device(), job.handlers(), job.ringSize(),
                job.batch(), job.waitStrategy(), job.cpus(), job.recordFromNs(), job.recordUntilNs(), job.stallUs()));
        }
    }

    /** Spins after some polls, for a ninth of the time since the last such pause. Used by the polling thread. */
    private static final class PausingQueue implements CompletionQueue {
        private static final int POLLS_BETWEEN_PAUSES = 64;
        private static final int PARTS = 9;

        private final CompletionQueue queue;
        private final boolean pauses;
        private int polls;
        private long pauseEndNs = System.nanoTime();

        PausingQueue(final CompletionQueue queue, final boolean pauses) {
            this.queue = queue;
            this.pauses = pauses;
        }

        @Override
        public String name() {
            return queue.name();
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            if (++polls % POLLS_BETWEEN_PAUSES == 0) {
                long now = System.nanoTime();
                final long untilNs = now + (pauses ? (now - pauseEndNs) / PARTS : 0);
                while (now < untilNs) {
                    now = System.nanoTime();
                }
                pauseEndNs = now;
            }
            return queue.poll(records, first, maxEntries);
        }

        @Override
        public CompletionBudget budget() {
            return queue.budget();
        }
    }
}
