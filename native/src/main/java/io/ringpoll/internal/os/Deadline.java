package io.ringpoll.internal.os;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The deadline of a call with a time-out.
 *
 * <p>Immutable. An interrupt ends no wait, so that a stop is never left half done; the interrupt flag is restored after the wait.
 */
public final class Deadline {
    private static final long PARK_NS = 50_000;

    private final long timeoutNs;
    private final long atNs;

    private Deadline(final long timeoutNs) {
        this.timeoutNs = timeoutNs;
        // The sum may overflow: deadlines are compared by difference.
        this.atNs = System.nanoTime() + timeoutNs;
    }

    /**
     * A deadline that is a time-out from now.
     *
     * @param timeoutNs in nanoseconds; negative for 0
     * @return the deadline
     */
    public static Deadline after(final long timeoutNs) {
        return new Deadline(Math.max(0, timeoutNs));
    }

    /**
     * The rest of a wait's time-out.
     *
     * @param timeoutMs of the whole wait in milliseconds; 0 does not wait, negative waits without end
     * @param startNs   the begin of the wait on the clock of {@link System#nanoTime()}
     * @return milliseconds, 0 when the time is over; a time-out that is not positive as it is
     */
    public static int remainingMs(final int timeoutMs, final long startNs) {
        return timeoutMs <= 0 ? timeoutMs :
            (int) Math.max(0, timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs));
    }

    /**
     * The time of the deadline, to be compared by difference.
     *
     * @return on the clock of {@link System#nanoTime()}
     */
    public long atNs() {
        return atNs;
    }

    /**
     * The remaining time.
     *
     * @return nanoseconds; 0 after the deadline
     */
    public long leftNs() {
        return Math.max(0, atNs - System.nanoTime());
    }

    /**
     * Whether the deadline has passed.
     *
     * @return true also for a time-out of 0
     */
    public boolean isOver() {
        return leftNs() == 0;
    }

    /**
     * The whole time-out, for messages.
     *
     * @return with its unit
     */
    public String timeout() {
        final long timeoutMs = TimeUnit.NANOSECONDS.toMillis(timeoutNs);
        return timeoutMs > 0 ? timeoutMs + " ms" : timeoutNs + " ns";
    }

    /**
     * Waits until a condition holds.
     *
     * @param condition checked at least once
     * @return false if it did not by the deadline
     */
    public boolean await(final BooleanSupplier condition) {
        boolean interrupted = false;
        boolean holds = condition.getAsBoolean();
        while (!holds && !isOver()) {
            LockSupport.parkNanos(PARK_NS);
            // parkNanos returns immediately while the interrupt flag is set: the wait would spin.
            interrupted |= Thread.interrupted();
            holds = condition.getAsBoolean();
        }
        restore(interrupted);
        return holds;
    }

    /**
     * Waits until a thread has ended or was never started.
     *
     * @param thread another one
     * @return false if it runs at the deadline
     */
    public boolean join(final Thread thread) {
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

    /**
     * Acquires a lock.
     *
     * @param lock to be released by the caller
     * @return false if it was not free by the deadline
     */
    public boolean tryLock(final Lock lock) {
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
