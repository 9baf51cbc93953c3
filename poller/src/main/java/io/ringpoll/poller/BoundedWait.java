package io.ringpoll.poller;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A wait for the polling thread, until a deadline.
 *
 * <p>An interrupt does not cut it short; {@link #close} sets the flag again. One thread makes, uses and closes it.
 */
final class BoundedWait implements AutoCloseable {
    private static final long PARK_NS = 50_000;

    private final long startNs = System.nanoTime();
    private final long deadlineNs;
    private boolean interrupted;

    /**
     * Begins a wait.
     *
     * @param deadlineNs by {@link System#nanoTime()}
     */
    BoundedWait(final long deadlineNs) {
        this.deadlineNs = deadlineNs;
    }

    /** The deadline of a time-out that begins now; a negative time-out is 0. */
    static long deadlineNs(final long timeoutNs) {
        // May overflow: deadlines are compared by their distance from now.
        return System.nanoTime() + Math.max(0, timeoutNs);
    }

    boolean isOver() {
        return System.nanoTime() - deadlineNs >= 0;
    }

    /** The length of the whole wait, for messages. */
    long boundMs() {
        return TimeUnit.NANOSECONDS.toMillis(Math.max(0, deadlineNs - startNs));
    }

    void park() {
        LockSupport.parkNanos(PARK_NS);
        // A park returns at once while the flag is set: the wait would spin.
        interrupted |= Thread.interrupted();
    }

    @Override
    public void close() {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
