package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionQueue;

/**
 * A completion queue's place in a poller's round: the queue, the index that its completions carry, and whether it has failed.
 *
 * <p>Made by the thread that adds the queue, then owned by the polling thread.
 */
final class PolledQueue {
    final CompletionQueue queue;
    final short index;
    /** The negative result or reported code that takes the queue out of the round; 0 while it is sound. */
    int faultCode;

    PolledQueue(final CompletionQueue queue, final int index) {
        this.queue = queue;
        this.index = (short) index;
    }
}
