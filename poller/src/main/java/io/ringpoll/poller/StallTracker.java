package io.ringpoll.poller;

import org.agrona.concurrent.NanoClock;

/**
 * The longest duty cycle, and how many took longer than a threshold: what preemption, a page fault or a slow call into C does to
 * the poller shows here.
 *
 * <p>Reading the clock takes longer than an empty poll, so a poller that spins reads it once in a window of duty cycles. Windows
 * grow to {@link #MAX_WINDOW} cycles while they take no longer than a few microseconds, and shrink to single cycles when cycles
 * are long: reading the clock then costs nothing in comparison. Cycles with work and cycles without take up different shares of
 * a window, since handlers that run on the polling thread make only the former long.
 *
 * <pre>
 *   window of one cycle, or short cycles before a long one    the time of that cycle
 *   window of several cycles, short                           their mean: no cycle is known to have been longer
 *   window of several cycles, long                            ambiguous; the next cycle is measured alone, and if it is
 *                                                               as long as the window's mean:  their mean
 *                                                               else:  one cycle had nearly all of the window's time
 * </pre>
 *
 * <p>Owned by the polling thread.
 */
final class StallTracker {
    /** Duty cycles in a window at most, a power of two. */
    static final int MAX_WINDOW = 64;

    /** A longer window is ambiguous, if it has more than one cycle. */
    private static final long LONG_WINDOW_NS = 8_000;
    /** Never reached: the clock is not read. */
    private static final int OFF = 0;

    private final NanoClock clock;
    private final PollerCounters counters;
    private final long thresholdNs;
    private final long longNs;
    /** The share of a window that a duty cycle takes up at least, of {@link #MAX_WINDOW}. */
    private final int leastShare;

    private int workShare;
    private int idleShare;
    /** Share of the present window that is left. */
    private int left = MAX_WINDOW;
    private long startCycle;
    private long startNs;
    /** An ambiguous window, until the next cycle; 0 cycles if there is none. */
    private long ambiguousCycles;
    private long ambiguousNs;

    /**
     * Creates a tracker.
     *
     * @param thresholdNs above which a cycle is counted; negative to read no clock at all
     * @param maxWindow   duty cycles in a window at most, a power of two up to {@link #MAX_WINDOW}; 1 to measure each
     */
    StallTracker(final NanoClock clock, final PollerCounters counters, final long thresholdNs, final int maxWindow) {
        this.clock = clock;
        this.counters = counters;
        this.thresholdNs = thresholdNs;
        this.longNs = Math.min(LONG_WINDOW_NS, thresholdNs);
        this.leastShare = MAX_WINDOW / maxWindow;
        measureSingly();
    }

    /**
     * Begins a first cycle, or one after a time that is none of the poller's: a sleep.
     *
     * @param cycles so far
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
     * @param cycles so far
     * @param worked whether this one found work
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

    /** Decides on the ambiguous window by the cycle that followed. */
    private void resolve(final long nextNs) {
        final boolean areAllLong = 2 * nextNs * ambiguousCycles > ambiguousNs;
        record(areAllLong ? ambiguousNs / ambiguousCycles : ambiguousNs - (ambiguousCycles - 1) * nextNs);
        ambiguousCycles = 0;
    }

    /** Lets windows take between half of what is long and all of it. */
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
