package io.ringpoll.internal.poller;

import io.ringpoll.internal.os.Deadline;
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

    /** Runs the action; polling thread only. An exception, which ends the poller, ends the wait, too. */
    void execute() {
        boolean done = false;
        try {
            action.run();
            done = true;
        } finally {
            if (done) {
                complete();
            } else {
                fail("has failed at the command");
            }
        }
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
     * @param deadline of the wait
     * @param task     for the exception message, as the object of "cannot"
     * @throws TimeoutException if the deadline passes, or without delay if the command fails
     */
    void await(final Deadline deadline, final String task) throws TimeoutException {
        if (!deadline.await(() -> done || failure != null)) {
            abandoned = true;
            throw new TimeoutException("the poller did not " + task + " within " + deadline.timeout());
        }
        if (!done) {
            throw new TimeoutException("the poller cannot " + task + ": it " + failure);
        }
    }
}
