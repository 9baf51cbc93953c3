package io.ringpoll.poller;

import java.util.concurrent.TimeoutException;

/**
 * A change to what the poller owns, made between two duty cycles on the polling thread.
 *
 * <p>Made and awaited by other threads. It may be submitted again: its action has no effect the second time.
 */
final class PollerCommand {
    private final Runnable action;
    /** Whether the queue holds it; guarded by the lock of the {@link CommandQueue}. */
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

    /** Runs the action; polling thread only. */
    void execute() {
        action.run();
        complete();
    }

    /** Ends the wait for it: the request is fulfilled. Polling thread only. */
    void complete() {
        done = true;
    }

    /** Ends the wait for it: the request can no longer be fulfilled. Polling thread only. */
    void fail(final String reason) {
        failure = reason;
    }

    boolean isDone() {
        return done;
    }

    /** Whether its wait has timed out. */
    boolean isAbandoned() {
        return abandoned;
    }

    /**
     * Waits until the poller has done it.
     *
     * @param deadlineNs by {@link System#nanoTime()}
     * @param what       the poller is to do, for the exception
     * @throws TimeoutException if the deadline passes before, or at once if the poller can no longer do it
     */
    void await(final long deadlineNs, final String what) throws TimeoutException {
        try (BoundedWait wait = new BoundedWait(deadlineNs)) {
            while (!done) {
                final String reason = failure;
                if (reason != null) {
                    throw new TimeoutException("the poller cannot " + what + ": it " + reason);
                }
                if (wait.isOver()) {
                    abandoned = true;
                    throw new TimeoutException("the poller did not " + what + " within " + wait.boundMs() + " ms");
                }
                wait.park();
            }
        }
    }
}
