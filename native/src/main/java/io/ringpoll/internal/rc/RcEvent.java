package io.ringpoll.internal.rc;

/** The events of a connection that both bindings report. */
public enum RcEvent {
    /** Both sides can post. */
    ESTABLISHED,
    /** The connection was ended in order. */
    CLOSED,
    /** The connection broke. */
    LOST,
    /** The other side refused the connection, or nobody listens there. */
    REJECTED,
    /** The other side cannot be reached. */
    UNREACHABLE
}
