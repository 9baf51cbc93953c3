package io.ringpoll.internal.verbs;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;

/**
 * A poll that leaves the accounting to the poller, which writes to memory of its own without checks of each call. {@link
 * CountedQueues} finds it for a queue of the binding.
 *
 * <p>Owned by the one thread that polls the queue; another thread polls by an instance of its own, or after {@link #onHandOver}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
@FunctionalInterface
public interface CountedQueue {
    /**
     * As {@link CompletionQueue#poll}, but to an address that nothing checks; and the caller updates the queue's
     * {@link CompletionQueue#budget()}, if there is one, by {@link CompletionBudget#onPolledByPoller}, before it polls again.
     *
     * @param wcAddress  address of an array of at least {@code maxEntries} {@link IbvWc} records, 8-byte aligned
     * @param maxEntries as for {@link CompletionQueue#poll}
     * @return as {@link CompletionQueue#poll}
     */
    int pollUncounted(long wcAddress, int maxEntries);

    /**
     * As {@link #pollUncounted}, for a queue without an address at its place of a {@link PollTable}, which may get one.
     *
     * @param wcAddress  as there
     * @param maxEntries as there
     * @return as there
     */
    default int pollAndLease(final long wcAddress, final int maxEntries) {
        return pollUncounted(wcAddress, maxEntries);
    }

    /**
     * Creates a table for queues of this class.
     *
     * @return without places; null if there is none for this class
     */
    default PollTable newTable() {
        return null;
    }

    /**
     * Moves to a place of a table, and leaves the former one. The first poll after that is {@link #pollAndLease}.
     *
     * @param table of any class: it is of no use to queues of others than {@link #newTable()}; null to be in none
     * @param place that no other queue has any more
     */
    default void moveTo(final PollTable table, final int place) {
    }

    /**
     * Sets where the timestamps of completions go; before the first poll.
     *
     * @param recordsAddress    of the array of records of which each poll fills a part
     * @param timestampsAddress of an array with a {@code long} for each of these records; 0 if there is none
     * @return whether the polls put timestamps there
     */
    default boolean putTimestamps(final long recordsAddress, final long timestampsAddress) {
        return false;
    }

    /**
     * Lets the calling thread make the polls from now on. Ordered by the callers after the last poll of the former thread.
     * Without this call both threads would use the former one's lease of the calls into C.
     */
    default void onHandOver() {
    }
}
