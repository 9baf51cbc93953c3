package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.internal.verbs.RecordSource;

/**
 * The published completions of a handler's paths at one moment, read in place.
 *
 * <p>Belongs to the handler's thread and is reused for each batch, as is the flyweight returned by {@link #completion}.
 */
public final class CompletionBatch {
    private final long slabAddress;
    private final int mask;
    private final long[] records;
    private final WorkCompletion completion = new WorkCompletion();
    /** Base of the offsets: at most the sequence of the first completion, and less than a ring behind the last. */
    private long first;
    private int size;

    CompletionBatch(final long slabAddress, final int mask, final int limit) {
        this.slabAddress = slabAddress;
        this.mask = mask;
        this.records = new long[limit];
    }

    /**
     * The number of completions in the batch.
     *
     * @return at least 1
     */
    public int size() {
        return size;
    }

    /**
     * A completion of the batch.
     *
     * @param index from 0 to the size less 1, in ring order
     * @return the flyweight of the batch, wrapped around the slot; valid until the next call
     */
    public WorkCompletion completion(final int index) {
        return RecordAddress.show(completion, recordAt(index));
    }

    /**
     * The sequence of a completion's slot.
     *
     * @param index from 0 to the size less 1
     * @return sequence, for use with {@link SlotControl}
     */
    public long sequence(final int index) {
        final int slot = (int) (recordAt(index) - slabAddress) / IbvWc.SIZE_BYTES;
        return first + (slot - (int) first & mask);
    }

    /** Sets the source of the completions' queues. */
    void source(final RecordSource queues) {
        RecordAddress.source(completion, queues);
    }

    /** Clears the batch; completions added next have at least this sequence. */
    void begin(final long firstSequence) {
        first = firstSequence;
        size = 0;
    }

    void add(final long record) {
        records[size++] = record;
    }

    /** Ends the use of the batch: the slab may be freed. */
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
