package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.QueueAttachments;
import io.ringpoll.internal.verbs.RecordSource;

/**
 * Looks up the completion queue of a handler's slots on the polling thread, where each batch is of one queue, and handled before
 * the next: nothing is searched.
 *
 * <p>Belongs to the polling thread.
 */
final class InPlaceSource implements RecordSource {
    private final CompletionSlab slab;
    private final long slabAddress;
    private final long recordsBytes;
    private final HandlerContext context;
    /** Kept here, since a read through the pipeline and the poller is five loads that wait for each other. */
    private QueueAttachments attachments;
    /** The index and not the attachment: storing a reference would execute the garbage collector's barrier, with a fence. */
    private int queueIndex;

    InPlaceSource(final CompletionSlab slab, final HandlerContext context) {
        this.slab = slab;
        this.slabAddress = slab.buffer().addressOffset();
        this.recordsBytes = slab.buffer().capacity();
        this.context = context;
    }

    /** Begins; before the first batch, when the pipeline has its poller. */
    void start() {
        attachments = context.attachments();
    }

    /** Begins a batch of one queue. */
    void beginBatch(final int index) {
        queueIndex = index;
    }

    @Override
    public int queueIndex(final long recordAddress) {
        if (Long.compareUnsigned(recordAddress - slabAddress, recordsBytes) >= 0) {
            throw SlotSource.notInRing();
        }
        return queueIndex;
    }

    @Override
    public Object attachment(final long recordAddress) {
        return attachments.get(queueIndex(recordAddress));
    }

    @Override
    public long timestamp(final long recordAddress) {
        return SlotSource.timestamp(slab, slabAddress, recordAddress, context.hasTimestamps(queueIndex(recordAddress)));
    }
}
