package io.ringpoll.ratis.transport;

/** On which threads a node takes what has come. */
public enum HandlerThreads {
    /** The poller's own: nobody has to be woken for a completion. */
    POLLER,
    /** One of its own for all three paths. */
    ONE,
    /** One for each of the three paths. */
    PARALLEL
}
