package io.ringpoll.pipeline;

import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletion;

/**
 * Completions of a handler's paths, as many as were published when it looked, read in place.
 *
 * <p>Belongs to the handler's thread and is filled again for each batch; so is the flyweight that {@link #completion} gives.
 */
public final class CompletionBatch {
    private final long slabAddress;
    private final int mask;
    private final long[] records;
    private final WorkCompletion completion = new WorkCompletion();
    /** A sequence up to that of the first completion, and less than a ring behind the last. */
    private long first;
    private int size;

    CompletionBatch(final long slabAddress, final int mask, final int limit) {
        this.slabAddress = slabAddress;
        this.mask = mask;
        this.records = new long[limit];
    }

    /**
     * How many completions the batch has.
     *
     * @return at least 1
     */
    public int size() {
        return size;
    }

    /**
     * A completion of the batch.
     *
     * @param index from 0 to the size less 1, in the order of the ring
     * @return the batch's one flyweight, pointed at the slot; valid until the next call
     */
    public WorkCompletion completion(final int index) {
        return completion.wrap(recordAt(index));
    }

    /**
     * The sequence of a completion's slot.
     *
     * @param index from 0 to the size less 1
     * @return for {@link SlotControl}
     */
    public long sequence(final int index) {
        final int slot = (int) (recordAt(index) - slabAddress) / IbvWc.SIZE_BYTES;
        return first + (slot - (int) first & mask);
    }

    /** Empties the batch; what is added next has at least this sequence. */
    void begin(final long firstSequence) {
        first = firstSequence;
        size = 0;
    }

    void add(final long record) {
        records[size++] = record;
    }

    /** There are no more batches: the slab may be freed. */
    void end() {
        size = 0;
        completion.unwrap();
    }

    private long recordAt(final int index) {
        if (index >= size) {
            throw new IndexOutOfBoundsException("completion " + index + " of a batch of " + size);
        }
        return records[index];
    }
}
