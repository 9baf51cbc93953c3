package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Memory;

/**
 * Events of a connection ({@code enum rpma_conn_event}).
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_next_event.3.html">rpma_conn_next_event(3)</a>
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

    /**
     * The name of the event in librpma.
     *
     * @return for instance {@code "Connection established"}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_utils_conn_event_2str.3.html">
     *     rpma_utils_conn_event_2str(3)</a>
     */
    public String meaning() {
        Loading.require();
        return Memory.stringAt(Librpma.CONNECTION.rpma_utils_conn_event_2str(value));
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
