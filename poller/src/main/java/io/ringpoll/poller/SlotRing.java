package io.ringpoll.poller;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * What the poller knows of the ring: free slots are claimed in order, filled in place, and taken back published.
 *
 * <p>Owned by the polling thread. No call blocks, allocates or throws for want of slots. A slot is one
 * {@link io.ringpoll.verbs.IbvWc} record, and claimed slots lie side by side in memory.
 */
public interface SlotRing {
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
     *     are behind; 0 if the ring is full
     */
    int claim(int limit);

    /**
     * Where the first claimed slot lies in the slab.
     *
     * @return offset in bytes; meaningful after a {@link #claim} that was not 0
     */
    int claimedOffset();

    /**
     * Hands the first claimed slots to the handlers as one range.
     *
     * @param count how many, at least 1 and at most what {@link #claim} returned
     */
    void publish(int count);
}
