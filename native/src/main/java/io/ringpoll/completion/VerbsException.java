package io.ringpoll.completion;

import io.ringpoll.os.Errno;
import java.util.Objects;

/**
 * Thrown if a call of libibverbs or librdmacm failed; has the call and its errno.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/errno.3.html">errno(3)</a>
 */
public class VerbsException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param function the C function that failed
     * @param errno    a value of errno(3); 0 if unknown
     */
    public VerbsException(final String function, final int errno) {
        this(function, errno, "");
    }

    /**
     * Creates the exception.
     *
     * @param function the C function that failed
     * @param errno    a value of errno(3); 0 if unknown
     * @param remedy   the reason and the remedy; empty if unknown
     */
    public VerbsException(final String function, final int errno, final String remedy) {
        super(Objects.requireNonNull(function, "the function is null") + " failed: " +
            (errno == 0 ? "no reason given" : Errno.describe(errno)) +
            (Objects.requireNonNull(remedy, "the remedy is null").isEmpty() ? "" : "; " + remedy), function, errno);
    }
}
