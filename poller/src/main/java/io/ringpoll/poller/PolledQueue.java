package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionQueue;

/**
 * A completion queue's place in a poller's round: the queue, the index that its completions carry, and whether it has failed.
 *
 * <p>Made by the thread that adds the queue, then owned by the polling thread.
 */
final class PolledQueue {
    final CompletionQueue queue;
    final int index;
    /** The negative result that took the queue out of the round; 0 while it is sound. */
    int faultCode;
    /** Whether the fault has been handed to the error path. */
    boolean faultPublished;

    PolledQueue(final CompletionQueue queue, final int index) {
        this.queue = queue;
        this.index = index;
    }
}
