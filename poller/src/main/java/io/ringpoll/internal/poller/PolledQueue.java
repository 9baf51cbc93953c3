package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.internal.verbs.PollTable;
import java.util.Objects;

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
    /** The name of the added queue: the polling thread does not ask a user's queue for it. */
    final String name;
    /** The same queue if its poller updates the budget; otherwise null. */
    private final CountedQueue counted;
    final int index;
    QueueState state = QueueState.ADDING;
    /** Descriptor to watch during a sleep. */
    final int eventFd;
    /** Whether an event has been requested and not yet raised. */
    boolean armed;
    /** The negative poll result or reported code that removes the queue from the round; 0 if none. */
    int faultCode;

    PolledQueue(final CompletionQueue added, final CompletionQueue queue, final int index, final int eventFd) {
        this.added = added;
        this.name = Objects.requireNonNullElse(added.name(), "completion queue " + index);
        this.queue = queue;
        this.counted = CountedQueues.of(queue);
        this.index = index;
        this.eventFd = eventFd;
    }

    /** Lets the polls put timestamps beside the slots; returns false if the queue has none. Before it joins the round. */
    boolean putTimestamps(final SlotRing ring) {
        return counted != null && counted.putTimestamps(ring.slab().addressOffset(), ring.timestampsAddress());
    }

    /**
     * The budget that the poller updates; null if the queue has none or updates it itself. It changes: queue pairs are created
     * and closed while their completion queue is in the round.
     */
    CompletionBudget budget() {
        return counted == null ? null : queue.budget();
    }

    /** Polls a queue without an address at its place of a table; the caller updates the {@link #budget()}. */
    int pollAndLease(final WorkCompletions slab, final long slabAddress, final int offset, final int maxEntries) {
        // A counted queue is part of the binding and takes an address: the poller claims only slots within its slab.
        return counted != null ? counted.pollAndLease(slabAddress + offset, maxEntries) : pollOfUser(slab, offset, maxEntries);
    }

    /** A table for queues like this one; null if there is none. */
    PollTable newTable() {
        return counted == null ? null : counted.newTable();
    }

    /**
     * Moves the queue to a place of a table. Takes it out of any table if that is null, or if the queue has a fault to publish.
     */
    void moveTo(final PollTable table, final int place) {
        if (counted != null) {
            counted.moveTo(faultCode == 0 ? table : null, place);
        }
    }

    /** Polls a queue that may be the user's own: more slots than were claimed must not be published. */
    private int pollOfUser(final WorkCompletions slab, final int offset, final int maxEntries) {
        final int polled = queue.poll(slab, offset / IbvWc.SIZE_BYTES, maxEntries);
        if (polled > maxEntries) {
            throw new IllegalStateException(
                name + ": the poll returned " + polled + " completions, at most " + maxEntries + " were asked for");
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
            // Its next poll looks for the fault.
            moveTo(null, 0);
        }
    }
}
