package io.ringpoll.completion;

/** The element that an asynchronous event refers to. */
enum AsyncEventElement {
    /** A completion queue: {@link AsyncEvent#completionQueueAddress()}. */
    COMPLETION_QUEUE,
    /** A queue pair: {@link AsyncEvent#queuePairNumber()}. */
    QUEUE_PAIR,
    /** A shared receive queue. */
    SHARED_RECEIVE_QUEUE,
    /** A work queue. */
    WORK_QUEUE,
    /** A port: {@link AsyncEvent#port()}. */
    PORT,
    /** The device as a whole. */
    DEVICE
}
