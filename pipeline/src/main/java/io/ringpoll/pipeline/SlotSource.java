package io.ringpoll.pipeline;

import io.ringpoll.internal.verbs.RecordSource;
import io.ringpoll.verbs.IbvWc;
import java.util.function.LongSupplier;

/**
 * Looks up the completion queues of a handler's slots. Retains the last run, so that consecutive slots of a queue cost one
 * search.
 *
 * <p>Belongs to the handler's thread.
 */
final class SlotSource implements RecordSource {
    private final CompletionSlab slab;
    private final long slabAddress;
    private final LongSupplier next;
    private long first;
    private long end;
    private int queueIndex;

    /**
     * Creates a source.
     *
     * @param next the first slot that the handler has not passed
     */
    SlotSource(final CompletionSlab slab, final LongSupplier next) {
        this.slab = slab;
        this.slabAddress = slab.buffer().addressOffset();
        this.next = next;
    }

    @Override
    public int queueIndex(final long recordAddress) {
        final long sequence = sequence(slab, slabAddress, recordAddress, next.getAsLong());
        if (sequence < first || sequence >= end) {
            final QueueRuns runs = slab.queueRuns();
            final long run = runs.find(sequence);
            first = runs.start(run);
            // The end of the newest run is not known yet.
            end = run + 1 < runs.count() ? runs.start(run + 1) : sequence + 1;
            queueIndex = runs.queueIndex(run);
        }
        return queueIndex;
    }

    /** The queue of a record, without state; any thread. */
    static int queueIndex(final CompletionSlab slab, final long slabAddress, final long recordAddress, final long next) {
        final QueueRuns runs = slab.queueRuns();
        return runs.queueIndex(runs.find(sequence(slab, slabAddress, recordAddress, next)));
    }

    /** The sequence of a record's slot, less than a ring after a slot that is free, or the next to be free. */
    private static long sequence(
        final CompletionSlab slab, final long slabAddress, final long recordAddress, final long next) {
        final long slot = (recordAddress - slabAddress) / IbvWc.SIZE_BYTES;
        if (slot < 0 || slot > slab.mask()) {
            throw new IllegalStateException("the completion has no queue index: it is not in the ring");
        }
        return next + ((int) slot - (int) next & slab.mask());
    }
}
