package io.ringpoll.rpma;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.Errno;
import java.util.function.IntFunction;

/**
 * Thrown if a call of librpma failed; has the function, the code, its meaning and, for provider errors, errno.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_err_2str.3.html">rpma_err_2str(3)</a>
 */
public final class RpmaException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private static final int EADDRNOTAVAIL = 99;

    private final int code;

    private RpmaException(
        final String function, final int code, final int errno, final String detail, final String remedy) {
        super(function + " failed: " + RpmaError.name(code) + " (" + RpmaError.meaning(code) + ")" +
            (errno == 0 ? "" : ", errno " + Errno.describe(errno)) + (detail.isEmpty() ? "" : "; librpma: " + detail) +
            (isUnresolved(errno, detail) ? "; the name cannot be resolved: check it, or use an IP address" : "") +
            (isForeign(errno, detail) ? "; no network interface of this machine has the address" : "") +
            (remedy.isEmpty() ? "" : "; " + remedy), function, errno);
        this.code = code;
    }

    /** Whether the resolver refused: its reason is in librpma's text, not in errno. */
    private static boolean isUnresolved(final int errno, final String detail) {
        return errno != Errno.EMFILE && errno != Errno.ENFILE && detail.contains("rdma_getaddrinfo(");
    }

    private static boolean isForeign(final int errno, final String detail) {
        return errno == EADDRNOTAVAIL && detail.contains("rdma_bind_addr(");
    }

    /**
     * Makes an exception of a negative result. To be called by the thread that made the call, before another one.
     *
     * @param function the C function
     * @param code     its result
     * @return to be thrown
     */
    static RpmaException of(final String function, final int code) {
        return of(function, code, errno -> "");
    }

    private static RpmaException of(final String function, final int code, final IntFunction<String> remedy) {
        final int told = code == RpmaError.PROVIDER ? LogSink.errorErrno() : 0;
        final int errno = told == 0 && code == RpmaError.PROVIDER ? CallState.current().errno() : told;
        final String detail = LogSink.takeErrorText();
        return new RpmaException(function, code, errno, detail, remedy.apply(errno));
    }

    /**
     * Creates an exception for a negative result of a call without captured errno, since the call must not allocate; it contains
     * librpma's message instead.
     *
     * @param function the C function
     * @param code     its result
     * @return to be thrown
     */
    static RpmaException withoutErrno(final String function, final int code) {
        return withoutErrno(function, code, errno -> "");
    }

    /**
     * As {@link #withoutErrno(String, int)}.
     *
     * @param function the C function
     * @param code     its result
     * @param remedy   the reason and the remedy by errno (0 if unknown); empty if unknown
     * @return to be thrown
     */
    static RpmaException withoutErrno(final String function, final int code, final IntFunction<String> remedy) {
        final int errno = code == RpmaError.PROVIDER ? LogSink.errorErrno() : 0;
        final String detail = LogSink.takeErrorText();
        return new RpmaException(function, code, errno, detail, remedy.apply(errno));
    }

    /**
     * Throws if a call failed.
     *
     * @param function the C function
     * @param result   0 or a negative code
     * @throws RpmaException if it is negative
     */
    static void check(final String function, final int result) {
        if (result < 0) {
            throw of(function, result);
        }
    }

    /**
     * Throws if a call failed.
     *
     * @param function the C function
     * @param result   0 or a negative code
     * @param remedy   the reason and the remedy by errno (0 if unknown); empty if unknown
     * @throws RpmaException if it is negative
     */
    static void check(final String function, final int result, final IntFunction<String> remedy) {
        if (result < 0) {
            throw of(function, result, remedy);
        }
    }

    /**
     * How it failed.
     *
     * @return a value of {@link RpmaError}
     */
    public int code() {
        return code;
    }

    /**
     * The name of {@link #code()}.
     *
     * @return for instance {@code "RPMA_E_PROVIDER"}
     */
    public String codeName() {
        return RpmaError.name(code);
    }
}
