package io.ringpoll.verify.torture.processes;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The waits of a peer's process. The clock counts from the start of the machine. */
class OverdueTest {
    private static final long NOW_NS = 1_000_000;
    private static final long LIMIT_NS = 100;

    private final Overdue overdue = new Overdue(NOW_NS, LIMIT_NS);

    @Test
    void shouldWaitForCompletionsOfConnectionsThatWereOverAtTheFirstLook() {
        assertFalse(overdue.isReached(false, true, NOW_NS + 1));
        assertTrue(overdue.isReached(false, true, NOW_NS + LIMIT_NS + 1));
    }

    @Test
    void shouldWaitForTheEndAfterAFailureAtTheFirstLook() {
        assertFalse(overdue.isReached(true, false, NOW_NS + 1));
        assertTrue(overdue.isReached(true, false, NOW_NS + LIMIT_NS + 1));
    }

    @Test
    void shouldNotCountTheTimeOfWork() {
        assertFalse(overdue.isReached(false, false, NOW_NS + 10 * LIMIT_NS));
        assertFalse(overdue.isReached(false, true, NOW_NS + 10 * LIMIT_NS + 1));
    }
}
