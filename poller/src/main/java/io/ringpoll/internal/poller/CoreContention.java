package io.ringpoll.internal.poller;

/**
 * Decides whether a thread spins before it sleeps. It does not where threads that compute need its core.
 *
 * <p>A thread that yields its core to threads that compute gets it back after their time slices only, milliseconds later: the
 * scheduler lets a thread that wakes up run before them, but not one that has yielded. So after a long yield the following
 * idle periods sleep at once: 16, and twice as many after each further long yield. A spin without one halves this number.
 *
 * <p>Belongs to the polling thread.
 */
final class CoreContention {
    /**
     * A yield of this time or longer is a long one, in nanoseconds: time slices of Linux end at a tick of its clock, after 0.7 ms
     * at the earliest, and handlers and threads that pass messages on run shorter. A spin with shorter yields is faster than a
     * sleep although the core is shared: such a thread is awake when its message comes.
     */
    static final long LONG_YIELD_NS = 1_000_000;
    /** Idle periods without a spin after the first long yield. */
    static final int FEWEST_SKIPPED = 16;
    /** Idle periods without a spin after many of them. */
    static final int MOST_SKIPPED = 4096;

    private final long longYieldNs;
    private int skippedAtOnce;
    private int left;
    private boolean hasYieldedLong;

    /**
     * Creates the state without contention.
     *
     * @param longYieldNs time of a long yield, in nanoseconds
     */
    CoreContention(final long longYieldNs) {
        this.longYieldNs = longYieldNs;
    }

    /** Whether the idle period that begins now spins. */
    boolean spins() {
        if (left > 0) {
            left--;
            return false;
        }
        if (!hasYieldedLong) {
            skippedAtOnce /= 2;
        }
        hasYieldedLong = false;
        return true;
    }

    /**
     * Records a yield.
     *
     * @param yieldNs its time in nanoseconds
     * @return whether it was a long one: the spin ends
     */
    boolean onYield(final long yieldNs) {
        if (yieldNs < longYieldNs) {
            return false;
        }
        hasYieldedLong = true;
        skippedAtOnce = Math.clamp(skippedAtOnce * 2L, FEWEST_SKIPPED, MOST_SKIPPED);
        left = skippedAtOnce;
        return true;
    }
}
