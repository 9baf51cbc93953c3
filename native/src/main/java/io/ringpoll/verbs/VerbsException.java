package io.ringpoll.verbs;

import io.ringpoll.os.Errno;
import java.util.Objects;

/**
 * Says which call of libibverbs failed, and why.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/errno.3.html">errno(3)</a>
 */
public final class VerbsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;

    /**
     * Creates the exception.
     *
     * @param function the C function that failed
     * @param errno    why, a value of errno(3); 0 if it did not tell
     */
    public VerbsException(final String function, final int errno) {
        this(Objects.requireNonNull(function, "the function is null"), errno, "");
    }

    /**
     * Creates the exception.
     *
     * @param function the C function that failed
     * @param errno    why, a value of errno(3); 0 if it did not tell
     * @param remedy   what is wrong and how it is avoided; empty if that is not known
     */
    VerbsException(final String function, final int errno, final String remedy) {
        super(function + " failed: " + (errno == 0 ? "no reason given" : Errno.describe(errno)) +
            (remedy.isEmpty() ? "" : "; " + remedy));
        this.function = function;
        this.errno = errno;
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
     * @return a value of errno(3); 0 if libibverbs did not tell
     */
    public int errno() {
        return errno;
    }
}
