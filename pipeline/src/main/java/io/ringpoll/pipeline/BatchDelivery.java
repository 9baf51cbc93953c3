package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.internal.verbs.RecordSource;
import org.agrona.UnsafeApi;

/**
 * Delivers completions in batches.
 */
final class BatchDelivery extends Delivery {
    private final BatchHandler batchHandler;
    private final CompletionBatch batch;
    /** Receives of the range, if none has failed. */
    private int received;
    /** Statuses and opcodes of the range, combined by or. */
    private long statuses;

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
        received = 0;
        statuses = 0;
        while (slot <= last) {
            final int count = contiguous(slot, last);
            collect(slot, count);
            slot += count;
        }
        return deliverBatch(first, last);
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
        int receivesHere = 0;
        long statusesHere = 0;
        for (int i = 0; i < count; i++) {
            final long record = address + i * (long) IbvWc.SIZE_BYTES;
            final long statusAndOpcode = UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET);
            receivesHere += CompletionPaths.receiveBit(statusAndOpcode);
            statusesHere |= statusAndOpcode;
            if (accepts(statusAndOpcode)) {
                batch.add(record);
            }
        }
        received += receivesHere;
        statuses |= statusesHere;
    }

    private void beginBatch(final int size) throws HandlerHalted {
        try {
            batchHandler.onBatchStart(size);
        } catch (final Throwable failure) {
            failures.onFailure(failure, batch.sequence(0) - 1, 0);
        }
    }

    private int deliverBatch(final long first, final long last) throws HandlerHalted {
        final int size = batch.size();
        if (size > 0) {
            beginBatch(size);
            if (countsWhileDelivering()) {
                // Not before: a handler that halts in beginBatch has been given none of them.
                onDelivered(first, last, received, statuses);
            }
            try {
                batchHandler.onBatch(batch);
            } catch (final Throwable failure) {
                failures.onFailure(failure, batch.sequence(size - 1), size);
            }
        }
        return size;
    }
}
