package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 10, unit = TimeUnit.SECONDS)
class CoreContentionTest {
    private static final long LONG_NS = 100;

    private final CoreContention contention = new CoreContention(LONG_NS);

    @Test
    void shouldSpinInEachIdlePeriodWhileYieldsAreShort() {
        for (int i = 0; i < 100; i++) {
            assertTrue(contention.spins());
            assertFalse(contention.onYield(LONG_NS - 1));
        }
    }

    @Test
    void shouldSkipTwiceAsManyPeriodsAfterEachLongYieldUpToABound() {
        for (int skipped = CoreContention.FEWEST_SKIPPED; skipped < CoreContention.MOST_SKIPPED; skipped *= 2) {
            assertEquals(skipped, skippedAfterALongYield());
        }
        for (int i = 0; i < 3; i++) {
            assertEquals(CoreContention.MOST_SKIPPED, skippedAfterALongYield());
        }
    }

    @Test
    void shouldSkipHalfAsManyAfterEachSpinWithoutALongYield() {
        for (int skipped = 0; skipped < CoreContention.MOST_SKIPPED;) {
            skipped = skippedAfterALongYield();
        }
        // The spin that has ended the skipped periods is the first one.
        assertTrue(contention.spins());
        assertTrue(contention.spins());
        assertEquals(CoreContention.MOST_SKIPPED / 2, skippedAfterALongYield());
    }

    /** Threads that pass messages on run for less than the first, time slices are not shorter than the second. */
    @Test
    void shouldTakeAYieldForALongOneFromTheLengthOfATimeSliceOn() {
        final CoreContention byDefault = new CoreContention(CoreContention.LONG_YIELD_NS);
        assertFalse(byDefault.onYield(TimeUnit.MICROSECONDS.toNanos(500)));
        assertTrue(byDefault.onYield(TimeUnit.MICROSECONDS.toNanos(1000)));
    }

    @Test
    void shouldForgetContentionThatHasEnded() {
        assertEquals(CoreContention.FEWEST_SKIPPED, skippedAfterALongYield());
        assertEquals(CoreContention.FEWEST_SKIPPED * 2, skippedAfterALongYield());
        for (int i = 0; i < 10; i++) {
            assertTrue(contention.spins());
        }
        assertEquals(CoreContention.FEWEST_SKIPPED, skippedAfterALongYield());
    }

    /** The spin in which the yield is a long one, and the skipped periods behind it; the spin behind them has begun. */
    private int skippedAfterALongYield() {
        assertTrue(contention.onYield(LONG_NS));
        int skipped = 0;
        while (!contention.spins()) {
            skipped++;
        }
        return skipped;
    }
}
