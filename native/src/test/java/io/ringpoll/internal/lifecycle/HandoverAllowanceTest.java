package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ownership moves often for a short time, or rarely for a long time. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HandoverAllowanceTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    /** As {@link System#nanoTime()} may begin. */
    private static final long START_NS = Long.MIN_VALUE / 2;

    private final HandoverAllowance allowance = new HandoverAllowance();

    @Test
    void shouldAllowOnlyABurstAtOnce() {
        takeBurst(START_NS);
        assertFalse(allowance.take(START_NS));
        assertFalse(allowance.take(START_NS + SECOND_NS - 1));
    }

    @Test
    void shouldAllowOneASecondForEver() {
        for (int i = 0; i < 10_000; i++) {
            assertTrue(allowance.take(START_NS + i * SECOND_NS), "second " + i);
        }
    }

    @Test
    void shouldNotAllowMoreThanOneASecondInTheLongRun() {
        int allowed = 0;
        for (int i = 0; i < 1_000; i++) {
            allowed += allowance.take(START_NS + i * SECOND_NS / 10) ? 1 : 0;
        }
        assertTrue(allowed >= 100 && allowed <= 100 + HandoverAllowance.BURST, allowed + " moves in 100 seconds");
    }

    @Test
    void shouldKeepTheFractionOfASecondSinceTheLastRenewal() {
        takeBurst(START_NS);
        assertTrue(allowance.take(START_NS + 3 * SECOND_NS / 2));
        assertFalse(allowance.take(START_NS + 2 * SECOND_NS - 1));
        assertTrue(allowance.take(START_NS + 2 * SECOND_NS));
    }

    @Test
    void shouldAllowNoMoreThanABurstAfterALongTime() {
        takeBurst(START_NS);
        final long later = START_NS + 1_000_000 * SECOND_NS;
        takeBurst(later);
        assertFalse(allowance.take(later));
        assertFalse(allowance.take(later + SECOND_NS - 1));
        assertTrue(allowance.take(later + SECOND_NS));
    }

    private void takeBurst(final long nowNs) {
        for (int i = 0; i < HandoverAllowance.BURST; i++) {
            assertTrue(allowance.take(nowNs), "move " + i);
        }
    }
}
