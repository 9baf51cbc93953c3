package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bounds of a wait, and the interrupt that it keeps for its caller. */
@Timeout(60)
class BoundedWaitTest {
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);

    @AfterEach
    void clear() {
        Thread.interrupted();
    }

    @Test
    void shouldEndAfterItsTimeOut() {
        final long leftNs = BoundedWait.deadlineNs(HOUR_NS) - System.nanoTime();
        assertTrue(leftNs <= HOUR_NS && leftNs > HOUR_NS - MINUTE_NS, leftNs + " ns are left");
    }

    @Test
    void shouldTakeANegativeTimeOutForZero() {
        for (final long timeoutNs : new long[]{Long.MIN_VALUE, -HOUR_NS, -1, 0}) {
            final long deadlineNs = BoundedWait.deadlineNs(timeoutNs);
            final long sinceNs = System.nanoTime() - deadlineNs;
            assertTrue(sinceNs >= 0 && sinceNs < MINUTE_NS, sinceNs + " ns ago");
        }
    }

    @Test
    void shouldBeOverFromItsDeadlineOn() {
        try (BoundedWait wait = new BoundedWait(System.nanoTime())) {
            assertTrue(wait.isOver());
        }
        for (final long timeoutNs : new long[]{HOUR_NS, Long.MAX_VALUE}) {
            try (BoundedWait wait = new BoundedWait(BoundedWait.deadlineNs(timeoutNs))) {
                assertFalse(wait.isOver());
            }
        }
    }

    @Test
    void shouldNameItsLengthInMilliseconds() {
        try (BoundedWait wait = new BoundedWait(BoundedWait.deadlineNs(HOUR_NS))) {
            final long boundMs = wait.boundMs();
            assertTrue(boundMs <= HOUR_NS / 1_000_000 && boundMs > (HOUR_NS - MINUTE_NS) / 1_000_000, boundMs + " ms");
        }
        try (BoundedWait over = new BoundedWait(System.nanoTime() - HOUR_NS)) {
            assertEquals(0, over.boundMs());
        }
    }

    @Test
    void shouldParkTheThread() {
        try (BoundedWait wait = new BoundedWait(BoundedWait.deadlineNs(HOUR_NS))) {
            // A park takes the permit, so that the next one lasts.
            LockSupport.unpark(Thread.currentThread());
            wait.park();
            final long startNs = System.nanoTime();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(90), "the permit was still there");
        }
    }

    @Test
    void shouldParkWithoutTheInterruptAndSetItAgainAtItsEnd() {
        Thread.currentThread().interrupt();
        try (BoundedWait wait = new BoundedWait(BoundedWait.deadlineNs(HOUR_NS))) {
            wait.park();
            assertFalse(Thread.currentThread().isInterrupted());
            wait.park();
        }
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldLeaveAThreadUninterruptedThatWasNot() {
        try (BoundedWait wait = new BoundedWait(BoundedWait.deadlineNs(0))) {
            wait.park();
        }
        assertFalse(Thread.interrupted());
    }
}
