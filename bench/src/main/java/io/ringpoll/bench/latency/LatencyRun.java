package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.Spread;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * All turns of one contestant, with an assessment of their validity.
 *
 * @param label   label of the contestant
 * @param windows its turns
 * @param marks   the reasons for doubt; empty for a clean run
 */
record LatencyRun(String label, List<LatencyWindow> windows, Set<RunMark> marks) {
    /** The share of the due operations that must be handled within the time: 99 %. */
    private static final double RATE_SHARE = 0.99;

    /**
     * Assesses turns.
     *
     * @param label    label of the contestant
     * @param windows  its turns
     * @param cpus     CPUs of its threads
     * @param handlers number of its handlers
     * @return the run with its marks
     */
    static LatencyRun of(final String label, final List<LatencyWindow> windows, final HotCpus cpus, final int handlers) {
        final Set<RunMark> marks = EnumSet.noneOf(RunMark.class);
        final long due = windows.stream().mapToLong(LatencyWindow::due).sum();
        final long onTime = windows.stream().mapToLong(LatencyWindow::onTime).sum();
        if (onTime < due * RATE_SHARE) {
            marks.add(RunMark.MISSED_RATE);
        }
        if (windows.stream().anyMatch(LatencyWindow::lostCpu)) {
            marks.add(RunMark.LOST_CPU);
        }
        if (!cpus.isPinned(handlers)) {
            marks.add(RunMark.NOT_PINNED);
        } else if (!cpus.areExclusive(handlers)) {
            marks.add(RunMark.SHARED_CPU);
        }
        final LatencyRun run = new LatencyRun(label, List.copyOf(windows), marks);
        if (run.faultyTurns() > 0) {
            marks.add(RunMark.FAULTY);
        }
        return run;
    }

    /** All latencies together, including disturbed turns. */
    Histogram total() {
        final Histogram total = new Histogram(3);
        windows.forEach(window -> total.add(window.latencyNs()));
        return total;
    }

    /** The parts of the time of all turns; empty if they were not measured. */
    Optional<SplitTimes> split() {
        return windows.stream().flatMap(window -> window.split().stream()).reduce(SplitTimes::plus);
    }

    /** The number of turns in which a thread lost its CPU. */
    long turnsWithoutCpu() {
        return windows.stream().filter(LatencyWindow::lostCpu).count();
    }

    /** A percentile turn by turn: one bad turn cannot hide the others. Turns without recorded latencies are left out. */
    Spread byTurn(final double percentile) {
        final double[] values = windows.stream().filter(window -> window.latencyNs().getTotalCount() > 0)
            .mapToDouble(window -> window.percentileNs(percentile)).toArray();
        return values.length == 0 ? Spread.of(0) : Spread.of(values);
    }

    /** The median over turns of the bytes allocated for each operation; NaN if that is not known. */
    double allocatedBytes() {
        final double[] values = windows.stream().mapToDouble(LatencyWindow::allocatedBytes)
            .filter(value -> !Double.isNaN(value)).toArray();
        return values.length == 0 ? AllocationWatch.UNKNOWN : Spread.of(values).median();
    }

    /** The number of turns with a fault or without recorded latencies. */
    long faultyTurns() {
        return windows.stream().filter(window -> !window.fault().isEmpty() || window.latencyNs().getTotalCount() == 0).count();
    }

    /** A property of each turn. */
    Spread over(final ToDoubleFunction<LatencyWindow> value) {
        return Spread.of(windows.stream().mapToDouble(value).toArray());
    }
}
