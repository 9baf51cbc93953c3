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
     * Polls queues in turn until one is not empty, or a few have been polled: as {@link #poll} for each, at less cost.
     *
     * @param first      position of the first queue in the last {@link #order}
     * @param most       maximum number of queues, 1 or more; no more than there are from the first on
     * @param wcAddress  as for {@link #poll}
     * @param maxEntries as for {@link #poll}
     * @return the number of empty polls before the last one in the upper half ({@link #emptyPolls}), and in the lower half the
     *     result of the last one as an int: that of {@link #poll} for the place behind the empty ones
     */
    long pollInTurn(int first, int most, long wcAddress, int maxEntries);

    /**
     * Makes a result of {@link #pollInTurn}.
     *
     * @param emptyPolls number of empty polls before the last one
     * @param last       result of the last one
     * @return both
     */
    static long result(final int emptyPolls, final int last) {
        return (long) emptyPolls << Integer.SIZE | last & 0xFFFF_FFFFL;
    }

    /**
     * The number of empty polls before the last one.
     *
     * @param result of {@link #pollInTurn}
     * @return 0 or more
     */
    static int emptyPolls(final long result) {
        return (int) (result >>> Integer.SIZE);
    }

    /**
     * Makes room; all queues are to be placed again by {@link CountedQueue#moveTo}.
     *
     * @param places number of places, more than before
     */
    void resize(int places);

    /**
     * Sets the order in which {@link #pollInTurn} polls.
     *
     * @param places the places of the queues, which are copied
     * @param number of the queues
     */
    void order(int[] places, int number);
}
