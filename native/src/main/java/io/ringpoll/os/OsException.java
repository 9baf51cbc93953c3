package io.ringpoll.os;

import io.ringpoll.internal.ffm.CallState;

/** Thrown if a system call failed; names the call, its object and the reason. */
public final class OsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;

    OsException(final String function, final int errno, final String message) {
        super(message);
        this.function = function;
        this.errno = errno;
    }

    static OsException of(final String function) {
        final int errno = CallState.current().errno();
        return new OsException(function, errno, function + " failed: " + Errno.describe(errno));
    }

    /**
     * The call that failed.
     *
     * @return its C name
     */
    public String function() {
        return function;
    }

    /**
     * Why it failed.
     *
     * @return a value of errno(3)
     */
    public int errno() {
        return errno;
    }
}
