package io.ringpoll.bench.replicate;

import org.HdrHistogram.Histogram;

/**
 * What a run came to.
 *
 * @param appendsPerSecond acknowledged
 * @param latencies        from the call to the acknowledgement, in nanoseconds
 * @param verified         records that all logs were found to hold, the warm-up's too
 * @param profile          what they cost; {@link AppendProfile#NONE} if nobody asked
 */
record ReplicateResult(double appendsPerSecond, Histogram latencies, long verified, AppendProfile profile) {
    private static final double NS_PER_US = 1000;

    double percentileUs(final double percentile) {
        return latencies.getValueAtPercentile(percentile) / NS_PER_US;
    }
}
