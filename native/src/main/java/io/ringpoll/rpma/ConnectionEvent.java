package io.ringpoll.rpma;

/**
 * What became of a connection ({@code enum rpma_conn_event}).
 *
 * @see <a href="https://pmem.io/rpma/manpages/main/rpma_conn_next_event.3/">rpma_conn_next_event(3)</a>
 */
public enum ConnectionEvent {
    /** An event that librpma does not know. */
    UNDEFINED(-1),
    /** Both sides can post. */
    ESTABLISHED(0),
    /** The connection was ended in order. */
    CLOSED(1),
    /** The connection broke. */
    LOST(2),
    /** The other side refused the connection, or nobody listens there. */
    REJECTED(3),
    /** The other side cannot be reached. */
    UNREACHABLE(4);

    private final int value;

    ConnectionEvent(final int value) {
        this.value = value;
    }

    /**
     * The value of the C constant.
     *
     * @return of {@code enum rpma_conn_event}
     */
    public int value() {
        return value;
    }

    static ConnectionEvent of(final int value) {
        for (final ConnectionEvent event : values()) {
            if (event.value == value) {
                return event;
            }
        }
        return UNDEFINED;
    }
}
