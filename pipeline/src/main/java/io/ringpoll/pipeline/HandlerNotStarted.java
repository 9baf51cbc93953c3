package io.ringpoll.pipeline;

/**
 * Thrown when a handler could not start on the polling thread.
 */
final class HandlerNotStarted extends Exception {
    private static final long serialVersionUID = 1L;

    private final String roleName;

    HandlerNotStarted(final String roleName, final Throwable cause) {
        // Without the message of the cause: getMessage() of user code may throw.
        super(null, cause);
        this.roleName = roleName;
    }

    String roleName() {
        return roleName;
    }
}
