package io.ringpoll.completion;

/**
 * Types of asynchronous events ({@code enum ibv_event_type}).
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
 */
public enum AsyncEventType {
    /** A completion queue has overrun: it is dead, and so are the queue pairs on it. */
    CQ_ERR(0, AsyncEventElement.COMPLETION_QUEUE),
    /** A queue pair has failed. */
    QP_FATAL(1, AsyncEventElement.QUEUE_PAIR),
    /** A request of the other side was invalid. */
    QP_REQ_ERR(2, AsyncEventElement.QUEUE_PAIR),
    /** A request of the other side went beyond its rights. */
    QP_ACCESS_ERR(3, AsyncEventElement.QUEUE_PAIR),
    /** A message arrived on a queue pair that is not ready to send. */
    COMM_EST(4, AsyncEventElement.QUEUE_PAIR),
    /** A send queue that was to be drained is. */
    SQ_DRAINED(5, AsyncEventElement.QUEUE_PAIR),
    /** A connection has moved to its alternate path. */
    PATH_MIG(6, AsyncEventElement.QUEUE_PAIR),
    /** A connection could not move to its alternate path. */
    PATH_MIG_ERR(7, AsyncEventElement.QUEUE_PAIR),
    /** The device has failed. */
    DEVICE_FATAL(8, AsyncEventElement.DEVICE),
    /** A port has become active. */
    PORT_ACTIVE(9, AsyncEventElement.PORT),
    /** A port has become unavailable. */
    PORT_ERR(10, AsyncEventElement.PORT),
    /** A port has another local identifier. */
    LID_CHANGE(11, AsyncEventElement.PORT),
    /** A port's table of partition keys has changed. */
    PKEY_CHANGE(12, AsyncEventElement.PORT),
    /** The subnet manager has changed. */
    SM_CHANGE(13, AsyncEventElement.PORT),
    /** A shared receive queue has failed. */
    SRQ_ERR(14, AsyncEventElement.SHARED_RECEIVE_QUEUE),
    /** A shared receive queue has fewer receives than its limit. */
    SRQ_LIMIT_REACHED(15, AsyncEventElement.SHARED_RECEIVE_QUEUE),
    /** A queue pair in error has taken its last receive from a shared receive queue. */
    QP_LAST_WQE_REACHED(16, AsyncEventElement.QUEUE_PAIR),
    /** The subnet manager asks clients to register again. */
    CLIENT_REREGISTER(17, AsyncEventElement.PORT),
    /** A port's table of GIDs has changed. */
    GID_CHANGE(18, AsyncEventElement.PORT),
    /** A work queue has failed. */
    WQ_FATAL(19, AsyncEventElement.WORK_QUEUE),
    /** An event that this list does not have. */
    UNKNOWN(-1, AsyncEventElement.DEVICE);

    private final int value;
    private final AsyncEventElement element;

    AsyncEventType(final int value, final AsyncEventElement element) {
        this.value = value;
        this.element = element;
    }

    /**
     * The value of the C constant.
     *
     * @return of {@code enum ibv_event_type}
     */
    public int value() {
        return value;
    }

    /** The element that an event of this type is about. */
    AsyncEventElement element() {
        return element;
    }

    static AsyncEventType of(final int value) {
        final AsyncEventType[] all = values();
        return value >= 0 && value < UNKNOWN.ordinal() ? all[value] : UNKNOWN;
    }
}
