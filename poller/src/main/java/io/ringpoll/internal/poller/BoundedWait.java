package io.ringpoll.internal.poller;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Parks the calling thread in slices until a condition holds or a deadline passes.
 *
 * <p>An interrupt does not end the wait; {@link #close} restores the interrupt flag. Confined to one thread.
 */
final class BoundedWait implements AutoCloseable {
    private static final long PARK_NS = 50_000;

    private final long startNs = System.nanoTime();
    private final long deadlineNs;
    private boolean interrupted;

    /**
     * Begins a wait.
     *
     * @param deadlineNs on the clock of {@link System#nanoTime()}
     */
    BoundedWait(final long deadlineNs) {
        this.deadlineNs = deadlineNs;
    }

    /** Converts a time-out that starts now to a deadline; a negative time-out is 0. */
    static long deadlineNs(final long timeoutNs) {
        // The sum may overflow: deadlines are compared by difference.
        return System.nanoTime() + Math.max(0, timeoutNs);
    }

    boolean isOver() {
        return System.nanoTime() - deadlineNs >= 0;
    }

    /** The length of the whole wait in milliseconds, for messages. */
    long boundMs() {
        return TimeUnit.NANOSECONDS.toMillis(Math.max(0, deadlineNs - startNs));
    }

    void park() {
        LockSupport.parkNanos(PARK_NS);
        // parkNanos returns immediately while the interrupt flag is set: the wait would spin.
        interrupted |= Thread.interrupted();
    }

    @Override
    public void close() {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
