package io.ringpoll.poller;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * What the poller knows of the ring: free slots are claimed in order, filled in place, and taken back published.
 *
 * <p>Owned by the polling thread, but for {@link #isHalted()}. No call blocks, allocates or throws for want of slots. A slot is
 * one {@link io.ringpoll.verbs.IbvWc} record, and claimed slots lie side by side in memory.
 */
public interface SlotRing {
    /** What {@link #claim} returns while handlers have yet to pass all slots. */
    int FULL = 0;
    /** What {@link #claim} returns from the moment on that a handler has died: no slot will be free any more. */
    int HALTED = -1;

    /**
     * The memory that holds all slots.
     *
     * @return the same buffer at each call, its address 8-byte aligned
     */
    UnsafeBuffer slab();

    /**
     * Holds the next free slots. Slots that an earlier claim left unpublished are held still and are part of the result.
     *
     * @param limit how many are wanted, at least 1
     * @return how many are held from {@link #claimedOffset()} on, at most {@code limit}; fewer where the slab ends or handlers
     *     are behind; {@link #FULL} or {@link #HALTED} if there is none
     */
    int claim(int limit);

    /**
     * Where the first claimed slot lies in the slab.
     *
     * @return offset in bytes; meaningful after a {@link #claim} that was positive
     */
    int claimedOffset();

    /**
     * Hands the first claimed slots to the handlers as one range.
     *
     * @param count how many, at least 1 and at most what {@link #claim} returned
     */
    void publish(int count);

    /** Hands the first claimed slot, which holds a {@link QueueFault}, to the handlers. */
    default void publishFault() {
        publish(1);
    }

    /**
     * Whether a handler has died, so that {@link #claim} returns {@link #HALTED}; any thread.
     *
     * @return true for good from the first time on
     */
    boolean isHalted();

    /**
     * Whether {@link #publish} has the slots handled before it returns, on the polling thread, so that handlers may post, add and
     * remove queues from within it.
     *
     * @return the same at each call; false if other threads handle them
     */
    default boolean handlesInPlace() {
        return false;
    }

    /**
     * Hears how long the ring has been full, so that it can say who holds the poller back: once with 0 when a stall begins, then
     * in slices until it ends.
     *
     * @param elapsedNs since the last call, in nanoseconds
     */
    default void onHeldBack(final long elapsedNs) {
    }

    /**
     * Who holds the poller back at this moment.
     *
     * @return name of the slowest handler
     */
    default String slowest() {
        return "";
    }
}
