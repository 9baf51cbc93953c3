package io.ringpoll.rpma;

/**
 * When a work request of the send queue generates a completion.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man7/librpma.7.html">librpma(7)</a>
 */
public enum CompletionFlag {
    /** Only if it fails ({@code RPMA_F_COMPLETION_ON_ERROR}). */
    ON_ERROR(1),
    /** On success and on error ({@code RPMA_F_COMPLETION_ALWAYS}). */
    ALWAYS(3);

    private final int value;

    CompletionFlag(final int value) {
        this.value = value;
    }

    /**
     * The value of the C constant.
     *
     * @return a combination of {@code RPMA_F_...}
     */
    public int value() {
        return value;
    }
}
