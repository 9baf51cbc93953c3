package io.ringpoll.bench.latency;

import io.ringpoll.bench.measure.CpuLoss;
import org.HdrHistogram.Histogram;

/**
 * What one turn came to.
 *
 * @param round      in which it was
 * @param label      of the contestant
 * @param latencyNs  what was recorded
 * @param due        how many were due in the time; 0 in a closed loop, where each waits for the one before
 * @param onTime     how many of these were handled within the time
 * @param loss       what CPU time the hot threads lost meanwhile
 * @param longestGapNs the longest time between two polls, where it is known; else 0
 * @param fault      what went wrong; empty if nothing did
 */
record LatencyWindow(int round, String label, Histogram latencyNs, long due, long onTime, CpuLoss loss, long longestGapNs,
                     String fault) {
    /** The CPU was taken from a hot thread for so long that a p99.9 shows it. */
    boolean lostCpu() {
        return loss.isSignificant();
    }

    /** The value that a share of the recorded latencies does not exceed. */
    long percentileNs(final double percentile) {
        return latencyNs.getValueAtPercentile(percentile);
    }
}
