package io.ringpoll.pipeline;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The end of a call's time-out.
 *
 * <p>Immutable. An interrupt ends no wait: half a stop is no use to anybody. The flag is set again when the wait is over.
 */
final class Deadline {
    private static final long PARK_NS = 50_000;

    private final long timeoutNs;
    private final long atNs;

    private Deadline(final long timeoutNs) {
        this.timeoutNs = timeoutNs;
        // May overflow: a deadline is compared by its distance from now.
        this.atNs = System.nanoTime() + timeoutNs;
    }

    /** A time from now; a negative one is 0. */
    static Deadline after(final long timeoutNs) {
        return new Deadline(Math.max(0, timeoutNs));
    }

    /** By {@link System#nanoTime()}. */
    long atNs() {
        return atNs;
    }

    /** The time left; 0 if it is over. */
    long leftNs() {
        return Math.max(0, atNs - System.nanoTime());
    }

    boolean isOver() {
        return leftNs() == 0;
    }

    /** The whole time, for messages. */
    String timeout() {
        final long timeoutMs = TimeUnit.NANOSECONDS.toMillis(timeoutNs);
        return timeoutMs > 0 ? timeoutMs + " ms" : timeoutNs + " ns";
    }

    /** Waits until a condition holds; false if it did not in time. */
    boolean await(final BooleanSupplier condition) {
        boolean interrupted = false;
        boolean holds = condition.getAsBoolean();
        while (!holds && !isOver()) {
            LockSupport.parkNanos(PARK_NS);
            // A park returns at once while the flag is set: the wait would spin.
            interrupted |= Thread.interrupted();
            holds = condition.getAsBoolean();
        }
        restore(interrupted);
        return holds;
    }

    /** Waits until a thread has ended, or has never been started; false if it has not in time. */
    boolean join(final Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive() && !isOver()) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, leftNs()));
            } catch (final InterruptedException later) {
                interrupted = true;
            }
        }
        restore(interrupted);
        return !thread.isAlive();
    }

    /** Takes a lock; false if it was not free in time. */
    boolean tryLock(final Lock lock) {
        boolean interrupted = false;
        boolean locked = lock.tryLock();
        while (!locked && !isOver()) {
            try {
                locked = lock.tryLock(leftNs(), TimeUnit.NANOSECONDS);
            } catch (final InterruptedException later) {
                interrupted = true;
            }
        }
        restore(interrupted);
        return locked;
    }

    private static void restore(final boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
