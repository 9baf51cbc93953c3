package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionQueue;

/**
 * A completion queue's place in a poller's round: the queue, the index that its completions carry, and whether it has failed.
 *
 * <p>Made by the thread that adds the queue, then owned by the polling thread.
 */
final class PolledQueue {
    /** What is polled: the queue that was added, or a view of it that can notify. */
    final CompletionQueue queue;
    /** The queue that was added. */
    final CompletionQueue added;
    final short index;
    /** Whether the queue owes an event, so that the poller may sleep. */
    boolean armed;
    /** The negative result or reported code that takes the queue out of the round; 0 while it is sound. */
    int faultCode;

    PolledQueue(final CompletionQueue added, final CompletionQueue queue, final int index) {
        this.added = added;
        this.queue = queue;
        this.index = (short) index;
    }
}
