package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;

/**
 * A completion queue in a poller's round, with its index and state.
 *
 * <p>Created by the thread that adds the queue, then owned by the polling thread.
 */
final class PolledQueue {
    /** Descriptor of a queue without completion events. */
    static final int NO_EVENT_FD = -1;

    /** The queue to poll: the added queue, or its view with completion events. */
    final CompletionQueue queue;
    /** The queue that was added. */
    final CompletionQueue added;
    /** The same queue if its poller updates the budget; otherwise null. */
    private final CountedQueue counted;
    /** The budget that the poller updates; null if the queue has none or updates it itself. */
    final CompletionBudget budget;
    final int index;
    QueueState state = QueueState.ADDING;
    /** Descriptor to watch during a sleep. */
    final int eventFd;
    /** Whether an event has been requested and not yet raised. */
    boolean armed;
    /** Position among the {@link RecentQueues}, {@link RecentQueues#NONE} if absent. */
    int recentIndex = RecentQueues.NONE;
    /** Number of rounds, one after another, in which it was empty; counted while it is among the {@link RecentQueues}. */
    int emptyRounds;
    /** The negative poll result or reported code that removes the queue from the round; 0 if none. */
    int faultCode;

    PolledQueue(final CompletionQueue added, final CompletionQueue queue, final int index, final int eventFd) {
        this.added = added;
        this.queue = queue;
        this.counted = CountedQueues.of(queue);
        this.budget = counted == null ? null : queue.budget();
        this.index = index;
        this.eventFd = eventFd;
    }

    /** Lets the polls put timestamps beside the slots; returns false if the queue has none. Before it joins the round. */
    boolean putTimestamps(final SlotRing ring) {
        return counted != null && counted.putTimestamps(ring.slab().addressOffset(), ring.timestampsAddress());
    }

    /** Polls the queue; the caller updates the {@link #budget}. */
    int poll(final WorkCompletions slab, final long slabAddress, final int offset, final int maxEntries) {
        // A counted queue is part of the binding and takes an address: the poller claims only slots within its slab.
        return counted != null ? counted.pollUncounted(slabAddress + offset, maxEntries) : pollOfUser(slab, offset, maxEntries);
    }

    /** Polls a queue that may be the user's own: more slots than were claimed must not be published. */
    private int pollOfUser(final WorkCompletions slab, final int offset, final int maxEntries) {
        final int polled = queue.poll(slab, offset / IbvWc.SIZE_BYTES, maxEntries);
        if (polled > maxEntries) {
            throw new IllegalStateException(
                queue.name() + ": the poll returned " + polled + " completions, at most " + maxEntries + " were asked for");
        }
        return polled;
    }

    /** Makes the calling thread the one that polls the queue, after another one. */
    void onHandOver() {
        if (counted != null) {
            counted.onHandOver();
        }
    }

    /** Records a fault, which the next duty cycle publishes; later faults are ignored. */
    void fail(final int code) {
        if (faultCode == 0) {
            faultCode = code;
        }
    }
}
