package io.ringpoll.os;

import io.ringpoll.internal.ffm.CallState;

/** Thrown if a system call failed; names the call, its object and the reason. */
public final class OsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;

    /**
     * Creates the exception of a call that has just failed.
     *
     * @param function the call, with its object
     * @param errno    the reason
     * @param message  both in other words
     */
    public OsException(final String function, final int errno, final String message) {
        super(message);
        this.function = function;
        this.errno = errno;
    }

    /**
     * Creates the exception of a call that has just failed.
     *
     * @param function the call, with its object
     * @param errno    the reason
     */
    public OsException(final String function, final int errno) {
        this(function, errno, function + " failed: " + Errno.describe(errno));
    }

    static OsException of(final String function) {
        return new OsException(function, CallState.current().errno());
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
