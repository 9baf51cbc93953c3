package io.ringpoll.poller;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Something that another thread wants of the poller, done between two duty cycles on the polling thread.
 *
 * <p>Made and awaited by the thread that wants it.
 */
final class PollerCommand {
    private static final long PARK_NS = 50_000;

    private final Runnable action;
    private volatile boolean done;

    /** A command that is done when its action has run; null for one that is completed later. */
    PollerCommand(final Runnable action) {
        this.action = action;
    }

    /** Runs the action; polling thread only. */
    void execute() {
        action.run();
        complete();
    }

    /** Says that what was wanted has come about; polling thread only. */
    void complete() {
        done = true;
    }

    boolean isDone() {
        return done;
    }

    /**
     * Waits until the poller has done it.
     *
     * @param deadlineNs by {@link System#nanoTime()}
     * @param what       was wanted, for the exception
     * @throws TimeoutException if the deadline passes before
     */
    void await(final long deadlineNs, final String what) throws TimeoutException {
        final long startNs = System.nanoTime();
        boolean interrupted = false;
        while (!done) {
            if (System.nanoTime() - deadlineNs >= 0) {
                restoreInterrupt(interrupted);
                throw new TimeoutException("the poller did not " + what + " within " +
                    TimeUnit.NANOSECONDS.toMillis(deadlineNs - startNs) + " ms");
            }
            LockSupport.parkNanos(PARK_NS);
            // A park returns at once while the flag is set: the wait would spin.
            interrupted |= Thread.interrupted();
        }
        restoreInterrupt(interrupted);
    }

    private static void restoreInterrupt(final boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
