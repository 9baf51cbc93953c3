package io.ringpoll.internal.lifecycle;

import java.util.concurrent.locks.LockSupport;

/**
 * Sleeps between two checks of a condition, in a wait that an interrupt does not end. An interrupt that arrives is kept for after
 * the wait; without this, {@link LockSupport#parkNanos} would return immediately while it is pending, and the wait would spin.
 *
 * <p>Used by one thread, for one wait.
 */
final class UninterruptiblePause {
    private boolean interrupted;

    /** Sleeps for about so many nanoseconds. */
    void parkNanos(final long nanos) {
        interrupted |= Thread.interrupted();
        LockSupport.parkNanos(this, nanos);
    }

    /** Restores an interrupt that arrived; to be called in any case when the wait is over. */
    void end() {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
