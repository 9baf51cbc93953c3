package io.ringpoll.bench.echo;

import io.ringpoll.bench.measure.CpuLoss;
import org.HdrHistogram.Histogram;

/**
 * One turn of a contestant.
 *
 * @param round          its round
 * @param scale          number of connections
 * @param mode           its traffic
 * @param subject        the contestant
 * @param nsPerMessage   time of a message with its answer; infinite if there was none
 * @param roundTripNs    recorded round trips; empty for {@link EchoMode#THROUGHPUT}
 * @param allocatedBytes bytes that its Java threads allocated for each message with its answer; NaN if that is not known
 * @param loss           CPU time that its threads lost
 * @param fault          reason why it is invalid; empty if it is valid
 */
record EchoWindow(int round, EchoScale scale, EchoMode mode, EchoSubject subject, double nsPerMessage, Histogram roundTripNs,
                  double allocatedBytes, CpuLoss loss, String fault) {
    /** As for hand-offs: a window with a higher loss measures the machine and not the program. */
    private static final double LOST_SHARE = 0.10;

    /** Whether it is valid. */
    boolean counts() {
        return fault.isEmpty() && Double.isFinite(nsPerMessage) && loss.lostShare() < LOST_SHARE &&
            (mode == EchoMode.THROUGHPUT || roundTripNs.getTotalCount() > 0);
    }

    /** The round trip of a percentile, in nanoseconds. */
    double percentileNs(final double percentile) {
        return roundTripNs.getValueAtPercentile(percentile);
    }
}
