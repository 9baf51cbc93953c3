package io.ringpoll.verbs;

/**
 * The states of a {@link ConnectionId}: calls and fetched events lead from one to the next.
 *
 * <pre>
 *   IDLE -> (BOUND) -> RESOLVING_ADDRESS -> ADDRESS_RESOLVED -> RESOLVING_ROUTE -> ROUTE_RESOLVED -> CONNECTING -> ESTABLISHED
 *   REQUESTED (of the other side) -> ACCEPTING -> ESTABLISHED,  or -> REJECTED
 *   ESTABLISHED -> DISCONNECTING -> DISCONNECTED      this side disconnects first
 *   ESTABLISHED -> REMOTE_DISCONNECTED -> DISCONNECTED    the other side does
 *   an error: -> FAILED
 * </pre>
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rdma_cm.7.html">rdma_cm(7)</a>
 */
public enum ConnectionState {
    /** Created. */
    IDLE,
    /** Bound to a local address. */
    BOUND,
    /** The remote address is being resolved. */
    RESOLVING_ADDRESS,
    /** The remote address is resolved, and the device known. */
    ADDRESS_RESOLVED,
    /** The route is being resolved. */
    RESOLVING_ROUTE,
    /** The id can be connected, once it has a queue pair. */
    ROUTE_RESOLVED,
    /** The other side has been asked. */
    CONNECTING,
    /** The other side has asked, and is waiting for an answer. */
    REQUESTED,
    /** The other side's request is accepted. */
    ACCEPTING,
    /** The other side's request is rejected. */
    REJECTED,
    /** Connected. */
    ESTABLISHED,
    /** The other side has disconnected; {@link ConnectionId#disconnect()} flushes the requests of this side. */
    REMOTE_DISCONNECTED,
    /** This side has disconnected and the other has not answered yet. */
    DISCONNECTING,
    /** Both sides have disconnected. */
    DISCONNECTED,
    /** The connection could not be made, or the device is gone. */
    FAILED;

    /** The state after an event. */
    ConnectionState after(final ConnectionEventType event) {
        return switch (event) {
            case ADDR_RESOLVED -> this == RESOLVING_ADDRESS ? ADDRESS_RESOLVED : this;
            case ROUTE_RESOLVED -> this == RESOLVING_ROUTE ? ROUTE_RESOLVED : this;
            case ESTABLISHED -> this == CONNECTING || this == ACCEPTING ? ESTABLISHED : this;
            case DISCONNECTED -> this == DISCONNECTING ? DISCONNECTED : this == DISCONNECTED ? this : REMOTE_DISCONNECTED;
            case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> FAILED;
            default -> this;
        };
    }
}
