package io.ringpoll.completion;

/**
 * A queue of work completions that can be polled straight into off-heap memory.
 *
 * <p>Owned by the one thread that polls it; {@link #poll} never blocks or allocates, and throws only if it is called wrongly.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public interface CompletionQueue {
    /**
     * Moves up to {@code maxEntries} completions from the queue to an array, oldest first.
     *
     * @param records    where they go
     * @param first      index of the record that gets the oldest
     * @param maxEntries maximum number of records to write, at least 1
     * @return the number of records written; 0 if the queue is empty; negative if the queue has failed, and then it is the
     *     queue's own error code (librpma's {@code RPMA_E_PROVIDER} or {@code RPMA_E_UNKNOWN}, or the negative result of
     *     {@code ibv_poll_cq}) and the queue must not be polled again
     * @throws IndexOutOfBoundsException if {@code maxEntries} records from the first one are not within the array
     */
    int poll(WorkCompletions records, int first, int maxEntries);

    /**
     * Name of the queue in reports, for instance {@code "connection 7 receive CQ"}.
     *
     * @return the queue's name, the same at each call
     */
    String name();

    /**
     * The object that all views of one queue have in common. By this object, a poller recognises and refuses a queue that another
     * poller polls.
     *
     * @return this queue, unless it is a view of another one; the same at each call
     */
    default Object underlying() {
        return this;
    }

    /**
     * Whether the queue is closed, so that no poller can take it.
     *
     * @return true if each poll fails; false also if that is unknown
     */
    default boolean isClosed() {
        return false;
    }

    /**
     * The account of the work requests in flight towards this queue.
     *
     * @return null if none is kept
     */
    default CompletionBudget budget() {
        return null;
    }

    /**
     * Whether an asynchronous event is about this queue.
     *
     * @param event of the same device
     * @return true if it names this queue; false also if that is unknown
     */
    default boolean isSubjectOf(final AsyncEvent event) {
        return false;
    }
}
