package io.ringpoll.bench.jitter;

import org.HdrHistogram.Histogram;

/**
 * Reads the clock repeatedly and counts the gaps between readings: a gap longer than a clock read is an interruption.
 *
 * <p>Owned by the spinning thread; its results are read after that thread has ended. {@code jitter.c} is the same loop in C.
 */
final class SpinLoop {
    /** The longest distinguished gap, in nanoseconds: a minute. */
    static final long MAX_GAP_NS = 60_000_000_000L;
    private static final int SIGNIFICANT_DIGITS = 2;
    /** Short calls let the compiler use the ordinary compiled method, instead of an on-stack replacement for one endless call. */
    private static final long CALL_NS = 10_000_000L;

    private final long floorNs;
    private final Histogram gaps = newHistogram();
    private long spins;
    private long elapsedNs;
    private long last;

    SpinLoop(final long floorNs) {
        this.floorNs = floorNs;
    }

    static Histogram newHistogram() {
        return new Histogram(1, MAX_GAP_NS, SIGNIFICANT_DIGITS);
    }

    /** Spins for a time in nanoseconds. */
    void run(final long durationNs) {
        final long begin = System.nanoTime();
        last = begin;
        while (last - begin < durationNs) {
            spin(Math.min(CALL_NS, durationNs - (last - begin)));
        }
        elapsedNs += last - begin;
    }

    private void spin(final long durationNs) {
        final long floor = floorNs;
        final long begin = last;
        long previous = begin;
        long now;
        long count = 0;
        do {
            now = System.nanoTime();
            if (now - previous >= floor) {
                gaps.recordValue(Math.min(now - previous, MAX_GAP_NS));
                // The time for counting is not an interruption.
                now = System.nanoTime();
            }
            previous = now;
            count++;
        } while (now - begin < durationNs);
        last = now;
        spins += count;
    }

    Histogram gaps() {
        return gaps;
    }

    long spins() {
        return spins;
    }

    long elapsedNs() {
        return elapsedNs;
    }
}
