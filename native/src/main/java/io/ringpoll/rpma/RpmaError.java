package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Memory;

/**
 * librpma's error codes, their names and meanings.
 *
 * <p>Plain integers, since some of them are compared on the hot path. Thread-safe.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_err_2str.3.html">rpma_err_2str(3)</a>
 */
public final class RpmaError {
    /** No error. */
    public static final int SUCCESS = 0;
    /** Unknown error ({@code RPMA_E_UNKNOWN}). */
    public static final int UNKNOWN = -100000;
    /** Not supported ({@code RPMA_E_NOSUPP}). */
    public static final int NOSUPP = -100001;
    /** The provider, or the operating system below it, reported an error ({@code RPMA_E_PROVIDER}); see errno. */
    public static final int PROVIDER = -100002;
    /** Out of memory ({@code RPMA_E_NOMEM}). */
    public static final int NOMEM = -100003;
    /** Invalid argument ({@code RPMA_E_INVAL}). */
    public static final int INVAL = -100004;
    /** No completion available ({@code RPMA_E_NO_COMPLETION}): an ordinary answer. */
    public static final int NO_COMPLETION = -100005;
    /** No event available ({@code RPMA_E_NO_EVENT}): an ordinary answer. */
    public static final int NO_EVENT = -100006;
    /** Temporary error, to be tried again ({@code RPMA_E_AGAIN}). */
    public static final int AGAIN = -100007;
    /** The completion channel is shared ({@code RPMA_E_SHARED_CHANNEL}): wait on the connection instead. */
    public static final int SHARED_CHANNEL = -100008;
    /** The completion channel is not shared ({@code RPMA_E_NOT_SHARED_CHNL}): wait on the queue instead. */
    public static final int NOT_SHARED_CHNL = -100009;

    private RpmaError() {
    }

    /**
     * The name of a code.
     *
     * @param code of librpma
     * @return for instance {@code "RPMA_E_PROVIDER"}; {@code "code 77"} for one it does not have
     */
    public static String name(final int code) {
        return switch (code) {
            case SUCCESS -> "success";
            case UNKNOWN -> "RPMA_E_UNKNOWN";
            case NOSUPP -> "RPMA_E_NOSUPP";
            case PROVIDER -> "RPMA_E_PROVIDER";
            case NOMEM -> "RPMA_E_NOMEM";
            case INVAL -> "RPMA_E_INVAL";
            case NO_COMPLETION -> "RPMA_E_NO_COMPLETION";
            case NO_EVENT -> "RPMA_E_NO_EVENT";
            case AGAIN -> "RPMA_E_AGAIN";
            case SHARED_CHANNEL -> "RPMA_E_SHARED_CHANNEL";
            case NOT_SHARED_CHNL -> "RPMA_E_NOT_SHARED_CHNL";
            default -> "code " + code;
        };
    }

    /**
     * The text of librpma for a code.
     *
     * @param code of librpma
     * @return for instance {@code "Provider error occurred"}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_err_2str.3.html">rpma_err_2str(3)</a>
     */
    public static String meaning(final int code) {
        Loading.require();
        return Memory.stringAt(Librpma.LOG.rpma_err_2str(code));
    }
}
