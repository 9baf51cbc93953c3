package io.ringpoll.bench.latency;

import io.ringpoll.completion.DeviceClock;
import io.ringpoll.completion.VerbsContext;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The resolution of a device's clock, and the measured error of its conversion to the clock of {@link System#nanoTime()}.
 *
 * @param frequencyKhz ticks in a millisecond
 * @param comparisonNs the error of comparisons of the clocks, each at most so many nanoseconds in either direction
 * @param differenceNs the difference between the conversion by a comparison and by another one, some time later: drift, and what
 *     both comparisons are off
 */
record ClockError(long frequencyKhz, Histogram comparisonNs, Histogram differenceNs) {
    /** Number of comparisons. */
    static final int COMPARISONS = 200;
    /** Less than the time for which {@link DeviceClock} uses a comparison, a millisecond, by the delay of a wake-up. */
    private static final long LATER_NS = TimeUnit.MICROSECONDS.toNanos(800);
    private static final double NS_IN_MS = 1e6;

    /** Measures it, in about a fifth of a second. */
    static ClockError of(final VerbsContext context) {
        final DeviceClock earlier = DeviceClock.of(context);
        final DeviceClock later = DeviceClock.of(context);
        final Histogram comparisonNs = new Histogram(3);
        final Histogram differenceNs = new Histogram(3);
        for (int i = 0; i < COMPARISONS; i++) {
            earlier.ticks();
            LockSupport.parkNanos(LATER_NS);
            final long ticks = later.ticks();
            comparisonNs.recordValue(later.comparisonErrorNs());
            differenceNs.recordValue(Math.abs(earlier.nanoTime(ticks) - later.nanoTime(ticks)));
        }
        return new ClockError(later.frequencyKhz(), comparisonNs, differenceNs);
    }

    /** The time of a tick. */
    double resolutionNs() {
        return NS_IN_MS / frequencyKhz;
    }
}
