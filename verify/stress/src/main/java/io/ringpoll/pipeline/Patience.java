package io.ringpoll.pipeline;

import java.util.concurrent.TimeUnit;

/** Detects a lost wake-up: without a wake-up, a wait ends only at the bound of its park, 20 s in these tests. */
final class Patience {
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(15);
    private static final int LONGEST_SPINS = 511;

    private Patience() {
    }

    static boolean isKept(final long startNs) {
        return System.nanoTime() - startNs < LONGEST_NS;
    }

    /** Spins for a time that differs between calls, around that of the spins before a park. */
    static void dither() {
        for (long spins = System.nanoTime() & LONGEST_SPINS; spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }
}
