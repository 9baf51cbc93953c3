package io.ringpoll.pipeline;

import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.internal.verbs.RecordSource;
import io.ringpoll.verbs.IbvWc;
import org.agrona.UnsafeApi;

/**
 * Delivers completions in batches.
 */
final class BatchDelivery extends Delivery {
    private final BatchHandler batchHandler;
    private final CompletionBatch batch;

    BatchDelivery(
        final HandlerConfig config, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        super(config, slab, failures, context);
        this.batchHandler = (BatchHandler) config.handler();
        this.batch = new CompletionBatch(slabAddress, mask, config.maxBatch());
    }

    @Override
    long deliverRange(final long first, final long last) throws HandlerHalted {
        if (first == last && deliverFault(first)) {
            return 1;
        }
        long slot = first;
        batch.begin(first);
        while (slot <= last) {
            final int count = contiguous(slot, last);
            collect(slot, count);
            slot += count;
        }
        return deliverBatch();
    }

    @Override
    void source(final RecordSource queues) {
        super.source(queues);
        batch.source(queues);
    }

    @Override
    void end() {
        batch.end();
    }

    private void collect(final long first, final int count) {
        final long address = addressOf(first);
        int received = 0;
        long statuses = 0;
        for (int i = 0; i < count; i++) {
            final long record = address + i * (long) IbvWc.SIZE_BYTES;
            final long statusAndOpcode = UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET);
            received += CompletionPaths.receiveBit(statusAndOpcode);
            statuses |= statusAndOpcode;
            if (accepts(statusAndOpcode)) {
                batch.add(record);
            }
        }
        if (countsWhileDelivering()) {
            onDelivered(first, count, received, statuses);
        }
    }

    private void beginBatch(final int size) throws HandlerHalted {
        try {
            batchHandler.onBatchStart(size);
        } catch (final Throwable failure) {
            failures.onFailure(failure, batch.sequence(0) - 1, 0);
        }
    }

    private int deliverBatch() throws HandlerHalted {
        final int size = batch.size();
        if (size > 0) {
            beginBatch(size);
            try {
                batchHandler.onBatch(batch);
            } catch (final Throwable failure) {
                failures.onFailure(failure, batch.sequence(size - 1), size);
            }
        }
        return size;
    }
}
