package io.ringpoll.pipeline;

import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.WorkCompletion;

/**
 * Delivery one completion at a time.
 */
final class SingleDelivery extends Delivery {
    private final WorkCompletion completion = new WorkCompletion();

    SingleDelivery(
        final HandlerSpec spec, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        super(spec, slab, failures, context);
        completion.wrap(this.slab, 0);
    }

    @Override
    long deliver(final long first, final long last) throws HandlerHalted {
        long slot = nextAccepted(first, last);
        long handled = 0;
        while (slot <= last) {
            final long following = nextAccepted(slot + 1, last);
            deliver(slot, following > last);
            handled++;
            slot = following;
        }
        return handled;
    }

    private void deliver(final long slot, final boolean endOfBatch) throws HandlerHalted {
        final WorkCompletion wc = completion.moveTo(CompletionSlab.offset(slot, mask));
        if (wc.status() == QueueFault.STATUS) {
            deliverFault(slot);
            return;
        }
        try {
            handler.onCompletion(wc, slot, endOfBatch);
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot);
        }
    }
}
