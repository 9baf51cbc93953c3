package io.ringpoll.internal.poller;

import org.agrona.concurrent.NanoClock;

/**
 * Measures the longest duty cycle and counts duty cycles above a threshold, which reveals preemption, page faults and slow native
 * calls.
 *
 * <p>Reading the clock takes longer than an empty poll, so a spinning poller reads it once per window of duty cycles. A window
 * grows to {@link #MAX_WINDOW} cycles while it takes at most a few microseconds, and shrinks to single cycles when cycles are
 * long. Cycles with work and cycles without take up different shares of a window, because handlers that run on the polling thread
 * lengthen only the former.
 * <pre>
 *   window of one cycle, or short cycles before a long one    the time of that cycle
 *   window of several cycles, short                           their mean: no cycle is known to have been longer
 *   window of several cycles, long                            ambiguous; the next cycle is measured alone, and if it is
 *                                                               as long as the window's mean:  their mean
 *                                                               else:  one cycle took nearly all of the window's time
 * </pre>
 *
 * <p>Owned by the polling thread.
 */
final class StallTracker {
    /** Maximum number of duty cycles in a window, a power of two. */
    static final int MAX_WINDOW = 64;

    /** Above this time a window of more than one cycle is ambiguous. */
    private static final long LONG_WINDOW_NS = 8_000;
    /** A share that never ends a window: the clock is not read. */
    private static final int OFF = 0;

    private final NanoClock clock;
    private final PollerCounterSet counters;
    private final long thresholdNs;
    private final long longNs;
    /** Minimum share of a window that a duty cycle takes up, in units of 1 / {@link #MAX_WINDOW}. */
    private final int leastShare;

    private int workShare;
    private int idleShare;
    /** Remaining share of the present window. */
    private int left = MAX_WINDOW;
    private long startCycle;
    private long startNs;
    /** Length of a pending ambiguous window; 0 if there is none. */
    private long ambiguousCycles;
    private long ambiguousNs;

    /**
     * Creates a tracker.
     *
     * @param thresholdNs cycles above it are counted; if negative, the clock is never read
     * @param maxWindow   maximum number of duty cycles in a window, a power of two up to {@link #MAX_WINDOW}; 1 to measure each
     */
    StallTracker(final NanoClock clock, final PollerCounterSet counters, final long thresholdNs, final int maxWindow) {
        this.clock = clock;
        this.counters = counters;
        this.thresholdNs = thresholdNs;
        this.longNs = Math.min(LONG_WINDOW_NS, thresholdNs);
        this.leastShare = MAX_WINDOW / maxWindow;
        measureSingly();
    }

    /**
     * Begins the first cycle, or the first one after a sleep, which is not measured.
     *
     * @param cycles number so far
     */
    void restart(final long cycles) {
        if (thresholdNs >= 0) {
            if (ambiguousCycles != 0) {
                record(ambiguousNs / ambiguousCycles);
                ambiguousCycles = 0;
            }
            begin(cycles, clock.nanoTime());
        }
    }

    /**
     * Ends a cycle and begins the next.
     *
     * @param cycles number so far
     * @param worked whether this cycle found work
     */
    void onCycle(final long cycles, final boolean worked) {
        left -= worked ? workShare : idleShare;
        if (left <= 0) {
            measure(cycles, worked);
        }
    }

    private void measure(final long cycles, final boolean worked) {
        final long nowNs = clock.nanoTime();
        final long elapsedNs = nowNs - startNs;
        final long windowCycles = cycles - startCycle;
        begin(cycles, nowNs);
        if (ambiguousCycles != 0) {
            resolve(elapsedNs);
        }
        final boolean isLong = elapsedNs > longNs;
        if (windowCycles == 1 || isLong && (worked ? workShare : idleShare) == MAX_WINDOW) {
            record(elapsedNs);
        } else if (isLong) {
            ambiguousCycles = windowCycles;
            ambiguousNs = elapsedNs;
            measureSingly();
        } else {
            record(elapsedNs / windowCycles);
        }
        adapt(elapsedNs, windowCycles, worked);
    }

    private void begin(final long cycles, final long nowNs) {
        startCycle = cycles;
        startNs = nowNs;
        left = MAX_WINDOW;
    }

    /** Resolves the ambiguous window with the time of the cycle that followed. */
    private void resolve(final long nextNs) {
        final boolean areAllLong = 2 * nextNs * ambiguousCycles > ambiguousNs;
        record(areAllLong ? ambiguousNs / ambiguousCycles : ambiguousNs - (ambiguousCycles - 1) * nextNs);
        ambiguousCycles = 0;
    }

    /** Adjusts the shares so that windows take between half the long time and all of it. */
    private void adapt(final long elapsedNs, final long windowCycles, final boolean worked) {
        if (elapsedNs > longNs) {
            if (worked) {
                workShare = share(MAX_WINDOW);
            } else {
                idleShare = share(MAX_WINDOW);
            }
        } else if (2 * elapsedNs < longNs) {
            if (worked) {
                workShare = share(workShare / 2);
            }
            if (!worked || windowCycles > 1) {
                idleShare = share(idleShare / 2);
            }
        }
    }

    private void measureSingly() {
        workShare = share(MAX_WINDOW);
        idleShare = workShare;
    }

    private int share(final int wanted) {
        return thresholdNs < 0 ? OFF : Math.max(leastShare, wanted);
    }

    private void record(final long cycleNs) {
        if (cycleNs > counters.dutyCycleMaxNs.getPlain()) {
            counters.dutyCycleMaxNs.setRelease(cycleNs);
        }
        if (cycleNs > thresholdNs) {
            counters.dutyCyclesOver.incrementRelease();
        }
    }
}
