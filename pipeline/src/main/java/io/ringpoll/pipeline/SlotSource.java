package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.internal.verbs.RecordFlyweight;
import io.ringpoll.internal.verbs.RecordSource;
import java.util.function.LongSupplier;

/**
 * Looks up the completion queues of a handler's slots. Retains the last run, so that consecutive slots of a queue are found
 * without a search. It does not retain attachments, which may outlive their queues no longer than their completions.
 *
 * <p>Belongs to the handler's thread.
 */
final class SlotSource implements RecordSource {
    private final CompletionSlab slab;
    private final long slabAddress;
    private final HandlerContext context;
    private final LongSupplier next;
    private final LongSupplier last;
    private long run = -1;
    private long first;
    private long end;
    private int queueIndex;

    /**
     * Creates a source.
     *
     * @param context knows the attachments of the queues
     * @param next    the first slot that the handler has not passed
     * @param last    the last slot of the handler's batch, or an earlier one
     */
    SlotSource(
        final CompletionSlab slab, final HandlerContext context, final LongSupplier next, final LongSupplier last) {
        this.slab = slab;
        this.slabAddress = slab.buffer().addressOffset();
        this.context = context;
        this.next = next;
        this.last = last;
    }

    @Override
    public int queueIndex(final long recordAddress) {
        final long sequence = sequence(slab, slabAddress, recordAddress, next.getAsLong());
        if (sequence < first || sequence >= end) {
            final QueueRuns runs = slab.queueRuns();
            run = runs.find(sequence, run);
            first = runs.start(run);
            // The end of the newest run is not known yet, but all runs up to the end of the batch have begun.
            end = run + 1 < runs.count() ? runs.start(run + 1) : Math.max(sequence, last.getAsLong()) + 1;
            queueIndex = runs.queueIndex(run);
        }
        return queueIndex;
    }

    @Override
    public Object attachment(final long recordAddress) {
        return context.attachments().get(queueIndex(recordAddress));
    }

    @Override
    public long timestamp(final long recordAddress) {
        return timestamp(slab, slabAddress, recordAddress, context.hasTimestamps(queueIndex(recordAddress)));
    }

    /** The timestamp of a record within the slab; any thread. */
    static long timestamp(final CompletionSlab slab, final long slabAddress, final long recordAddress, final boolean present) {
        if (!present) {
            throw new IllegalStateException(RecordFlyweight.NO_TIMESTAMP);
        }
        return slab.timestamp((recordAddress - slabAddress) / IbvWc.SIZE_BYTES);
    }

    /** The queue of a record, without state; any thread. */
    static int queueIndex(final CompletionSlab slab, final long slabAddress, final long recordAddress, final long next) {
        final QueueRuns runs = slab.queueRuns();
        return runs.queueIndex(runs.find(sequence(slab, slabAddress, recordAddress, next)));
    }

    static IllegalStateException notInRing() {
        return new IllegalStateException("the completion has no queue index: it is not in the ring");
    }

    /** The sequence of a record's slot, less than a ring after a slot that is free, or the next to be free. */
    private static long sequence(
        final CompletionSlab slab, final long slabAddress, final long recordAddress, final long next) {
        final long slot = (recordAddress - slabAddress) / IbvWc.SIZE_BYTES;
        if (slot < 0 || slot > slab.mask()) {
            throw notInRing();
        }
        return next + ((int) slot - (int) next & slab.mask());
    }
}
