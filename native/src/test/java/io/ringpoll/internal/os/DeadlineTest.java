package io.ringpoll.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The waits of a deadline: their bounds, from none to the longest, and the interrupt that they keep for the caller. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadlineTest {
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final long[] NO_TIME = {Long.MIN_VALUE, -1, 0, 1};
    /** Below the resolution of the waits that take milliseconds, where 0 has a meaning of its own. */
    private static final long PART_OF_A_MILLISECOND_NS = 900_000;

    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void end() {
        release.countDown();
    }

    @Test
    void shouldLeaveTheWholeTimeAtItsBeginningAndNoneOnceItIsOver() {
        final long leftNs = Deadline.after(HOUR_NS).leftNs();
        assertTrue(leftNs <= HOUR_NS && leftNs > HOUR_NS - TimeUnit.MINUTES.toNanos(1), leftNs + " ns are left");
        assertFalse(Deadline.after(HOUR_NS).isOver());
        assertFalse(Deadline.after(Long.MAX_VALUE).isOver());
        assertEquals(0, Deadline.after(0).leftNs());
        assertTrue(Deadline.after(0).isOver());
        assertTrue(Deadline.after(Long.MIN_VALUE).isOver());
    }

    @Test
    void shouldNameItsTimeInTheUnitThatIsNotZero() {
        assertEquals("0 ns", Deadline.after(-1).timeout());
        assertEquals("999999 ns", Deadline.after(999_999).timeout());
        assertEquals("1 ms", Deadline.after(1_000_000).timeout());
    }

    @Test
    void shouldLookOnceWithoutTimeAndUntilItHoldsWithTime() {
        for (final long timeoutNs : NO_TIME) {
            assertTrue(Deadline.after(timeoutNs).await(() -> true));
            assertFalse(Deadline.after(timeoutNs).await(() -> false));
        }
        final AtomicInteger looks = new AtomicInteger();
        assertTrue(Deadline.after(HOUR_NS).await(() -> looks.incrementAndGet() == 3));
        assertEquals(3, looks.get());
    }

    @Test
    void shouldParkTheThreadBetweenTwoLooks() {
        final AtomicInteger looks = new AtomicInteger();
        // A park takes the permit, so that the next one lasts.
        LockSupport.unpark(Thread.currentThread());
        assertTrue(Deadline.after(HOUR_NS).await(() -> looks.incrementAndGet() == 2));
        final long startNs = System.nanoTime();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(90), "the permit was still there");
    }

    @Test
    void shouldParkWithoutTheInterrupt() {
        final AtomicInteger looks = new AtomicInteger();
        Thread.currentThread().interrupt();
        assertTrue(Deadline.after(HOUR_NS).await(() -> looks.incrementAndGet() > 1 && !Thread.currentThread().isInterrupted()));
        assertEquals(2, looks.get());
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldJoinAThreadThatEndsAndLeaveOneThatDoesNotInTime() {
        final Thread thread = waiting();
        for (final long timeoutNs : NO_TIME) {
            assertFalse(Deadline.after(timeoutNs).join(thread));
        }
        for (int i = 0; i < 50; i++) {
            assertFalse(Deadline.after(PART_OF_A_MILLISECOND_NS).join(thread));
        }
        release.countDown();
        assertTrue(Deadline.after(HOUR_NS).join(thread));
        assertTrue(Deadline.after(0).join(thread));
        assertTrue(Deadline.after(0).join(new Thread(() -> { })), "one that was never started");
    }

    @Test
    void shouldTakeAFreeLockAndLeaveOneThatIsNotFreeInTime() {
        final ReentrantLock lock = new ReentrantLock();
        assertTrue(Deadline.after(0).tryLock(lock));
        final AtomicInteger refused = new AtomicInteger();
        final Thread other = Thread.ofPlatform().daemon().start(() -> {
            for (final long timeoutNs : NO_TIME) {
                refused.addAndGet(Deadline.after(timeoutNs).tryLock(lock) ? 0 : 1);
            }
            refused.addAndGet(Deadline.after(PART_OF_A_MILLISECOND_NS).tryLock(lock) ? 0 : 1);
        });
        assertTrue(Deadline.after(HOUR_NS).join(other));
        assertEquals(NO_TIME.length + 1, refused.get());
        final Thread next = Thread.ofPlatform().daemon().start(() -> {
            assertTrue(Deadline.after(HOUR_NS).tryLock(lock));
            lock.unlock();
            refused.set(0);
        });
        lock.unlock();
        assertTrue(Deadline.after(HOUR_NS).join(next));
        assertEquals(0, refused.get());
    }

    @Test
    void shouldKeepAnInterruptForTheCallerOfEachWait() {
        final Thread thread = waiting();
        Thread.currentThread().interrupt();
        assertFalse(Deadline.after(PART_OF_A_MILLISECOND_NS).await(() -> false));
        assertTrue(Thread.interrupted());
        Thread.currentThread().interrupt();
        assertFalse(Deadline.after(TimeUnit.MILLISECONDS.toNanos(50)).join(thread));
        assertTrue(Thread.interrupted());
        assertFalse(Deadline.after(PART_OF_A_MILLISECOND_NS).join(thread));
        assertFalse(Thread.interrupted(), "there was none");
    }

    private Thread waiting() {
        return Thread.ofPlatform().daemon().start(() -> {
            try {
                release.await();
            } catch (final InterruptedException end) {
                // It ends.
            }
        });
    }
}
