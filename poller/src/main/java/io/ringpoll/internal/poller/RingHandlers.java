package io.ringpoll.internal.poller;

/**
 * The handlers behind a ring, as seen by the poller.
 *
 * <p>Called by the polling thread, never for a round that finds free slots, except {@link #runInPlace()} and {@link
 * #timedWork()}.
 */
public interface RingHandlers {
    /**
     * Whether {@link SlotRing#publish} runs the handlers on the polling thread before it returns. Handlers may then post, add and
     * remove queues from within it.
     *
     * @return always the same value, read when the poller is created; false if other threads run the handlers
     */
    default boolean runInPlace() {
        return false;
    }

    /**
     * The work that handlers on the polling thread have for certain times.
     *
     * @return always the same, read when the poller is created
     */
    default TimedWork timedWork() {
        return TimedWork.NONE;
    }

    /**
     * Attributes a ring-full stall to the slowest handler: called with 0 when the stall begins, then periodically until it ends.
     *
     * @param elapsedNs time since the last call, in nanoseconds
     */
    default void onStall(final long elapsedNs) {
    }

    /**
     * The handler that is furthest behind at this moment.
     *
     * @return name of the slowest handler
     */
    default String slowestHandler() {
        return "";
    }
}
