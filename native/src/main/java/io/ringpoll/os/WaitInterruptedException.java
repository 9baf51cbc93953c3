package io.ringpoll.os;

/**
 * Thrown by a wait that {@link Thread#interrupt()} has ended. The thread's interrupt status is set, as after {@link
 * java.nio.channels.ClosedByInterruptException}; the wait had no effect and may be repeated.
 */
public final class WaitInterruptedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param what the wait that has ended
     */
    public WaitInterruptedException(final String what) {
        super(what + " was interrupted");
    }
}
