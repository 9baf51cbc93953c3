package io.ringpoll.completion;

import java.util.Objects;

/**
 * Thrown if a call of a binding of RDMA failed: of librpma, librdmacm or libibverbs. Has the function and errno.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/errno.3.html">errno(3)</a>
 */
public abstract class RdmaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;

    /**
     * Creates the exception.
     *
     * @param message  with the function, and the reason as far as it is known
     * @param function the C function that failed
     * @param errno    a value of errno(3); 0 if unknown
     */
    protected RdmaException(final String message, final String function, final int errno) {
        super(message);
        this.function = Objects.requireNonNull(function, "the function is null");
        this.errno = errno;
    }

    /**
     * The call that failed.
     *
     * @return its C name, of librpma with the address in parentheses where the call is about one
     */
    public final String function() {
        return function;
    }

    /**
     * Why the provider, or the operating system below it, refused.
     *
     * @return a value of errno(3); 0 if unknown
     */
    public final int errno() {
        return errno;
    }
}
