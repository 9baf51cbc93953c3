package io.ringpoll.pipeline;

import io.ringpoll.verbs.IbvWc;
import org.agrona.UnsafeApi;

/**
 * Delivery a batch at a time.
 */
final class BatchDelivery extends Delivery {
    private final BatchHandler batchHandler;
    private final CompletionBatch batch;

    BatchDelivery(
        final HandlerSpec spec, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        super(spec, slab, failures, context);
        this.batchHandler = ((BatchingHandler) spec.handler()).handler();
        this.batch = new CompletionBatch(slabAddress, mask, spec.batchLimit());
    }

    @Override
    long deliver(final long first, final long last) throws HandlerHalted {
        long handled = 0;
        long slot = first;
        batch.begin(first);
        while (slot <= last) {
            final int count = sideBySide(slot, last);
            handled += collect(slot, count);
            slot += count;
        }
        deliverBatch(last);
        return handled;
    }

    @Override
    void end() {
        batch.end();
    }

    private int collect(final long first, final int count) throws HandlerHalted {
        final long address = addressOf(first);
        int accepted = 0;
        for (int i = 0; i < count; i++) {
            final long record = address + i * (long) IbvWc.SIZE_BYTES;
            final long statusAndOpcode = UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET);
            if (accepts(statusAndOpcode)) {
                accepted++;
                if (isFault(statusAndOpcode)) {
                    deliverBatch(first + i);
                    deliverFault(first + i);
                } else {
                    batch.add(record);
                }
            }
        }
        return accepted;
    }

    private void deliverBatch(final long last) throws HandlerHalted {
        if (batch.size() > 0) {
            try {
                batchHandler.onBatch(batch);
            } catch (final Throwable failure) {
                failures.onFailure(failure, batch.sequence(batch.size() - 1));
            }
        }
        batch.begin(last + 1);
    }
}
