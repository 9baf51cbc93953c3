package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionBudget;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.CountedQueue;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletions;

/**
 * A completion queue's place in a poller's round: the queue, the index that its completions carry, and its state.
 *
 * <p>Made by the thread that adds the queue, then owned by the polling thread.
 */
final class PolledQueue {
    /** The descriptor of a queue that gives no events. */
    static final int NO_EVENT_FD = -1;

    /** What is polled: the queue that was added, or a view of it that can notify. */
    final CompletionQueue queue;
    /** The queue that was added. */
    final CompletionQueue added;
    /** The same, if it leaves counting for the budget to its poller; else null. */
    private final CountedQueue counted;
    /** Told what was polled; null if the queue tells it by itself, or there is none. */
    final CompletionBudget budget;
    final short index;
    QueueState state = QueueState.ADDING;
    /** The descriptor that the poller sleeps on for this queue. */
    final int eventFd;
    /** Whether the queue owes an event, so that the poller may sleep. */
    boolean armed;
    /** The negative result or reported code that takes the queue out of the round; 0 while it is sound. */
    int faultCode;

    PolledQueue(final CompletionQueue added, final CompletionQueue queue, final int index, final int eventFd) {
        this.added = added;
        this.queue = queue;
        this.counted = queue instanceof final CountedQueue itself ? itself : null;
        this.budget = counted == null ? null : counted.budget();
        this.index = (short) index;
        this.eventFd = eventFd;
    }

    /** Polls the queue; what comes is still to be told to its {@link #budget}. */
    int poll(final WorkCompletions slab, final int offset, final int maxEntries) {
        // One that counts is the binding's own and gets the address: a poller claims only what is within its slab.
        return counted != null ? counted.pollUncounted(slab.address() + offset, maxEntries) :
            queue.poll(slab, offset / IbvWc.SIZE_BYTES, maxEntries);
    }

    /** Notes a fault, which the next duty cycle publishes; the first one counts. */
    void fail(final int code) {
        if (faultCode == 0) {
            faultCode = code;
        }
    }
}
