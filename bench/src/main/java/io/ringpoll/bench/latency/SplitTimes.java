package io.ringpoll.bench.latency;

import org.HdrHistogram.Histogram;

/**
 * The parts of the time from the device's completion to its handler.
 *
 * @param deviceToPollNs  from the timestamp of the device until the poll that took the completion had returned; 0 for negative
 *     times
 * @param pollToHandlerNs from then until the handler was called
 * @param negative        number of completions with a negative first part, by an error of the clock's conversion
 * @param lowestNs        the lowest first part; 0 if none was negative
 */
record SplitTimes(Histogram deviceToPollNs, Histogram pollToHandlerNs, long negative, long lowestNs) {
    /** These and other times together. */
    SplitTimes plus(final SplitTimes other) {
        return new SplitTimes(sum(deviceToPollNs, other.deviceToPollNs), sum(pollToHandlerNs, other.pollToHandlerNs),
            negative + other.negative, Math.min(lowestNs, other.lowestNs));
    }

    private static Histogram sum(final Histogram one, final Histogram other) {
        final Histogram sum = new Histogram(3);
        sum.add(one);
        sum.add(other);
        return sum;
    }
}
