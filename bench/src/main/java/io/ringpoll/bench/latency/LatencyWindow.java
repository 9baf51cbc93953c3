package io.ringpoll.bench.latency;

import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.CpuLoss;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * The result of one turn.
 *
 * @param round          round of the turn
 * @param label          label of the contestant
 * @param latencyNs      the recorded latencies
 * @param due            number of operations due in the time; 0 in a closed loop, where each waits for the previous one
 * @param onTime         number of these that were handled within the time
 * @param loss           CPU time that the hot threads lost
 * @param longestGapNs   the longest time between two polls, if known; else 0
 * @param allocatedBytes bytes that the Java threads allocated for each operation; NaN if that is not known
 * @param fault          reason of a failure; empty if there was none
 * @param split          parts of the time, of a contestant whose queues have timestamps
 */
record LatencyWindow(int round, String label, Histogram latencyNs, long due, long onTime, CpuLoss loss, long longestGapNs,
                     double allocatedBytes, String fault, Optional<SplitTimes> split) {
    /** A turn in which neither allocations nor parts of the time were measured. */
    LatencyWindow(final int round, final String label, final Histogram latencyNs, final long due, final long onTime,
        final CpuLoss loss, final long longestGapNs, final String fault) {
        this(round, label, latencyNs, due, onTime, loss, longestGapNs, AllocationWatch.UNKNOWN, fault, Optional.empty());
    }

    /** The same with parts of the time. */
    LatencyWindow with(final SplitTimes times) {
        return new LatencyWindow(
            round, label, latencyNs, due, onTime, loss, longestGapNs, allocatedBytes, fault, Optional.of(times));
    }

    /** The CPU was taken from a hot thread for so long that p99.9 is affected. */
    boolean lostCpu() {
        return loss.isSignificant();
    }

    /** The value that a share of the recorded latencies does not exceed. */
    long percentileNs(final double percentile) {
        return latencyNs.getValueAtPercentile(percentile);
    }
}
