package io.ringpoll.internal.transport;

/** The threads of a node's handlers. */
public enum HandlerThreads {
    /** The poller's thread: a completion wakes no other thread. */
    POLLER,
    /** One thread for all three paths. */
    ONE,
    /** One thread for each of the three paths. */
    PARALLEL
}
