package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.Spread;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * All turns of one contestant, and what is to be thought of them.
 *
 * @param label   of the contestant
 * @param windows its turns
 * @param marks   what makes the figures doubtful; none for a clean run
 */
record LatencyRun(String label, List<LatencyWindow> windows, Set<RunMark> marks) {
    /** So many of what was due must have been handled within the time: 99 %. */
    private static final double RATE_SHARE = 0.99;

    /**
     * Judges turns.
     *
     * @param label    of the contestant
     * @param windows  its turns
     * @param cpus     where its threads were pinned
     * @param handlers how many it had beside the poller
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

    /** All latencies together, disturbed turns included. */
    Histogram total() {
        final Histogram total = new Histogram(3);
        windows.forEach(window -> total.add(window.latencyNs()));
        return total;
    }

    /** Turns in which the CPU was taken away. */
    long turnsWithoutCpu() {
        return windows.stream().filter(LatencyWindow::lostCpu).count();
    }

    /** A percentile turn by turn: one bad turn cannot hide the others. A turn that recorded nothing has none. */
    Spread byTurn(final double percentile) {
        final double[] values = windows.stream().filter(window -> window.latencyNs().getTotalCount() > 0)
            .mapToDouble(window -> window.percentileNs(percentile)).toArray();
        return values.length == 0 ? Spread.of(0) : Spread.of(values);
    }

    /** Turns in which something went wrong, or nothing was recorded. */
    long faultyTurns() {
        return windows.stream().filter(window -> !window.fault().isEmpty() || window.latencyNs().getTotalCount() == 0).count();
    }

    /** What every turn says of something. */
    Spread over(final ToDoubleFunction<LatencyWindow> value) {
        return Spread.of(windows.stream().mapToDouble(value).toArray());
    }
}
