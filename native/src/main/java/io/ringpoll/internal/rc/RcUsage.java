package io.ringpoll.internal.rc;

/** The operations that a region of local memory is registered for. */
public enum RcUsage {
    /** The other side may read it. */
    READ_SOURCE,
    /** Reads of the other side's memory may end here. */
    READ_DESTINATION,
    /** Writes to the other side's memory may begin here. */
    WRITE_SOURCE,
    /** The other side may write it. */
    WRITE_DESTINATION,
    /** The other side may flush it until the data is visible. */
    FLUSH_VISIBILITY,
    /** Messages may be sent from here. */
    SEND,
    /** Messages may be received here. */
    RECEIVE
}
