package io.ringpoll.internal.poller;

import io.ringpoll.poller.QueueFault;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The ring as seen by the poller: slots are claimed in order, filled in place and published.
 *
 * <p>Owned by the polling thread, except {@link #isHalted()}, {@link #lastPublished()} and {@link #isPassed}. No call blocks,
 * allocates, or throws when the ring is full. A slot is one {@link io.ringpoll.completion.IbvWc} record; claimed slots are
 * contiguous in memory.
 */
public interface SlotRing {
    /** Result of {@link #claim} when no slot is free. */
    int FULL = 0;
    /** Result of {@link #claim} after a handler has halted: no slot will become free again. */
    int HALTED = -1;

    /**
     * The memory that contains all slots.
     *
     * @return always the same buffer, aligned to 8 bytes
     */
    UnsafeBuffer slab();

    /**
     * The memory for the timestamps of completions: a {@code long} for each slot, in the order of the slots.
     *
     * @return address, always the same; 0 if the ring keeps none
     */
    default long timestampsAddress() {
        return 0;
    }

    /**
     * Claims the next free slots. Slots of an earlier claim that have not been published remain claimed and are part of the
     * result.
     *
     * @param limit maximum number of slots, at least 1
     * @return number of slots claimed from {@link #claimedOffset()} on, at most {@code limit}, fewer at the end of the slab or
     *     when handlers are behind; {@link #FULL} or {@link #HALTED} if none
     */
    int claim(int limit);

    /**
     * The offset of the first claimed slot in the slab.
     *
     * @return offset in bytes; defined after a positive {@link #claim}
     */
    int claimedOffset();

    /**
     * Publishes the first claimed slots to the handlers as one range.
     *
     * @param count      number of slots, at least 1 and at most the result of {@link #claim}
     * @param queueIndex of their completion queue, 0 to 65,535
     */
    void publish(int count, int queueIndex);

    /**
     * Publishes the first claimed slot, which contains a {@link QueueFault}.
     *
     * @param queueIndex of the failed queue
     */
    default void publishFault(final int queueIndex) {
        publish(1, queueIndex);
    }

    /**
     * The sequence of the last published slot; any thread.
     *
     * @return -1 before the first publication
     */
    long lastPublished();

    /**
     * Whether all handlers have passed and released the slots up to a sequence; any thread.
     *
     * @param sequence at most {@link #lastPublished}
     * @return true permanently once it is true
     */
    boolean isPassed(long sequence);

    /**
     * Whether a handler has halted, after which {@link #claim} returns {@link #HALTED}; any thread.
     *
     * @return true permanently from the first halt on
     */
    boolean isHalted();
}
