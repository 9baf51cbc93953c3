package io.ringpoll.pipeline;

import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletion;
import org.agrona.UnsafeApi;

/**
 * Delivery one completion at a time.
 */
final class SingleDelivery extends Delivery {
    private final WorkCompletion completion = new WorkCompletion();

    SingleDelivery(
        final HandlerSpec spec, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        super(spec, slab, failures, context);
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

    @Override
    void end() {
        completion.unwrap();
    }

    private void deliver(final long slot, final boolean endOfBatch) throws HandlerHalted {
        // By address, as in nextAccepted.
        final long address = slabAddress + CompletionSlab.offset(slot, mask);
        if (UnsafeApi.getInt(address + IbvWc.STATUS_OFFSET) == QueueFault.STATUS) {
            deliverFault(slot);
            return;
        }
        try {
            handler.onCompletion(completion.wrap(address), slot, endOfBatch);
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot);
        }
    }
}
