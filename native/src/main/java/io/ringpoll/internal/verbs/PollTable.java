package io.ringpoll.internal.verbs;

/**
 * Polls many {@link CountedQueue}s by their places, without their objects: the addresses of their C objects are side by side, so
 * the polls of a large round of empty queues do not load a Java object for each.
 *
 * <p>Owned by the one thread that polls the queues.
 */
public interface PollTable {
    /** The result of a poll that has not been made: the queue is to be polled by {@link CountedQueue#pollAndLease}. */
    int NOT_LEASED = Integer.MIN_VALUE;

    /**
     * As {@link CountedQueue#pollUncounted}.
     *
     * @param place      of the queue, less than the last {@link #resize}
     * @param wcAddress  as there
     * @param maxEntries as there
     * @return as there, or {@link #NOT_LEASED}
     */
    int poll(int place, long wcAddress, int maxEntries);

    /**
     * Makes room; all queues are to be placed again by {@link CountedQueue#moveTo}.
     *
     * @param places number of places, more than before
     */
    void resize(int places);
}
