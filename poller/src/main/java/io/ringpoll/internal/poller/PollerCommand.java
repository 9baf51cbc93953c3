package io.ringpoll.internal.poller;

import java.util.concurrent.TimeoutException;

/**
 * A change to the poller's state, executed on the polling thread between two duty cycles.
 *
 * <p>Created and awaited by other threads. A command may be submitted again; its action then has no effect.
 */
final class PollerCommand implements Runnable {
    private final Runnable action;
    /** Whether the command is queued; guarded by the lock of the {@link CommandQueue}. */
    boolean queued;
    private volatile boolean done;
    private volatile boolean abandoned;
    private volatile String failure;

    /**
     * Creates a command.
     *
     * @param action run by {@link #execute}
     */
    PollerCommand(final Runnable action) {
        this.action = action;
    }

    /** As {@link #execute}. */
    @Override
    public void run() {
        execute();
    }

    /** Runs the action; polling thread only. */
    void execute() {
        action.run();
        complete();
    }

    /** Completes the command and ends its wait; polling thread only. */
    void complete() {
        done = true;
    }

    /** Fails the command and ends its wait; polling thread only. */
    void fail(final String reason) {
        failure = reason;
    }

    boolean isDone() {
        return done;
    }

    /** Whether the wait for this command has timed out. */
    boolean isAbandoned() {
        return abandoned;
    }

    /**
     * Waits until the command is complete.
     *
     * @param deadlineNs on the clock of {@link System#nanoTime()}
     * @param task       for the exception message, as the object of "cannot"
     * @throws TimeoutException if the deadline passes, or without delay if the command fails
     */
    void await(final long deadlineNs, final String task) throws TimeoutException {
        try (BoundedWait wait = new BoundedWait(deadlineNs)) {
            while (!done) {
                final String reason = failure;
                if (reason != null) {
                    throw new TimeoutException("the poller cannot " + task + ": it " + reason);
                }
                if (wait.isOver()) {
                    abandoned = true;
                    throw new TimeoutException("the poller did not " + task + " within " + wait.boundMs() + " ms");
                }
                wait.park();
            }
        }
    }
}
