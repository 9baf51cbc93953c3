package io.ringpoll.rpma;

/**
 * How deep a flush goes ({@code enum rpma_flush_type}).
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_flush.3.html">rpma_flush(3)</a>
 */
public enum FlushType {
    /** Down to the persistent domain; needs {@link Connection#applyRemotePeerConfig} and a region of that usage. */
    PERSISTENT(0),
    /** Until the data is visible on the remote node. */
    VISIBILITY(1);

    private final int value;

    FlushType(final int value) {
        this.value = value;
    }

    /**
     * The value of the C constant.
     *
     * @return of {@code enum rpma_flush_type}
     */
    public int value() {
        return value;
    }
}
