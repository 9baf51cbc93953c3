package io.ringpoll.verbs;

/**
 * The events of the connection manager: {@code enum rdma_cm_event_type}, in its order.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html">rdma_get_cm_event(3)</a>
 */
public enum ConnectionEventType {
    /** The remote address is resolved, and the id bound to a device. */
    ADDR_RESOLVED,
    /** The remote address cannot be resolved. */
    ADDR_ERROR,
    /** The route is resolved. */
    ROUTE_RESOLVED,
    /** The route cannot be resolved. */
    ROUTE_ERROR,
    /** The other side asks for a connection. {@link Listener#nextRequest} takes it. */
    CONNECT_REQUEST,
    /** The other side has accepted an id without a queue pair. */
    CONNECT_RESPONSE,
    /** The connection cannot be made or has broken. */
    CONNECT_ERROR,
    /** The other side does not answer. */
    UNREACHABLE,
    /** The other side has rejected the connection, or nobody listens there. */
    REJECTED,
    /** The connection is made. */
    ESTABLISHED,
    /** The connection is ended. */
    DISCONNECTED,
    /** The device is gone: everything of it is to be closed. */
    DEVICE_REMOVAL,
    /** Not for connections. */
    MULTICAST_JOIN,
    /** Not for connections. */
    MULTICAST_ERROR,
    /** The local address has moved to another device. */
    ADDR_CHANGE,
    /** Late packets of the ended connection can arrive no more: the queue pair may be used again. */
    TIMEWAIT_EXIT,
    /** An event of a newer librdmacm. */
    UNKNOWN;

    private static final ConnectionEventType[] ALL = values();

    static ConnectionEventType of(final int value) {
        return value >= 0 && value < UNKNOWN.ordinal() ? ALL[value] : UNKNOWN;
    }
}
