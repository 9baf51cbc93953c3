package io.ringpoll.pipeline;

import java.util.concurrent.TimeUnit;

/** Tells a lost wake-up from one that came: only the bound of a park, 20 s in these tests, ends a wait without one. */
final class Patience {
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(15);
    private static final int LONGEST_SPINS = 511;

    private Patience() {
    }

    static boolean isKept(final long startNs) {
        return System.nanoTime() - startNs < LONGEST_NS;
    }

    /** Takes a time that differs from call to call, around that of the spins before a park. */
    static void dither() {
        for (long spins = System.nanoTime() & LONGEST_SPINS; spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }
}
