package io.ringpoll.pipeline;

/**
 * Delivery of whole batches; the fault of a queue ends one, so that the handler hears of it in its place.
 */
final class BatchDelivery extends Delivery {
    private final BatchHandler batchHandler;
    private final CompletionBatch batch;

    BatchDelivery(
        final HandlerSpec spec, final BatchHandler batchHandler, final CompletionSlab slab, final HandlerFailures failures,
        final HandlerContext context) {
        super(spec, slab, failures, context);
        this.batchHandler = batchHandler;
        this.batch = new CompletionBatch(slabAddress, mask, spec.batchLimit());
    }

    @Override
    long deliver(final long first, final long last) throws HandlerHalted {
        long handled = 0;
        batch.clear();
        for (long slot = nextAccepted(first, last); slot <= last; slot = nextAccepted(slot + 1, last)) {
            handled++;
            if (isFault(slot)) {
                deliverBatch();
                deliverFault(slot);
            } else {
                batch.add(slot);
            }
        }
        deliverBatch();
        return handled;
    }

    @Override
    void end() {
        batch.end();
    }

    private void deliverBatch() throws HandlerHalted {
        if (batch.size() > 0) {
            try {
                batchHandler.onBatch(batch);
            } catch (final Throwable failure) {
                failures.onFailure(failure, batch.sequence(batch.size() - 1));
            }
            batch.clear();
        }
    }
}
