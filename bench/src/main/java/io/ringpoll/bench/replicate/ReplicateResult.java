package io.ringpoll.bench.replicate;

import org.HdrHistogram.Histogram;

/**
 * The result of a run.
 *
 * @param appendsPerSecond acknowledged appends
 * @param latencies        time from the call to the acknowledgement, in nanoseconds
 * @param verified         records that were found in all logs, including the warm-up
 * @param profile          cost of the appends; {@link AppendProfile#NONE} if not requested
 */
record ReplicateResult(double appendsPerSecond, Histogram latencies, long verified, AppendProfile profile) {
    private static final double NS_PER_US = 1000;

    double percentileUs(final double percentile) {
        return latencies.getValueAtPercentile(percentile) / NS_PER_US;
    }
}
