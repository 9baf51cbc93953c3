package io.ringpoll.pipeline;

import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.IbvWc;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Shows the slots of a handler's paths to the handler, in place, and passes the others by.
 *
 * <p>Belongs to the handler's thread.
 */
abstract class Delivery {
    final UnsafeBuffer slab;
    final int mask;
    final CompletionHandler handler;
    final HandlerFailures failures;
    final long slabAddress;
    private final PathFilter filter;
    private final HandlerContext context;

    Delivery(
        final HandlerSpec spec, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        this.slab = slab.buffer();
        this.slabAddress = this.slab.addressOffset();
        this.mask = slab.mask();
        this.handler = spec.handler();
        this.failures = failures;
        this.filter = new PathFilter(spec.paths());
        this.context = context;
    }

    static Delivery of(
        final HandlerSpec spec, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        return spec.handler() instanceof BatchingHandler batching ?
            new BatchDelivery(spec, batching.handler(), slab, failures, context) :
            new SingleDelivery(spec, slab, failures, context);
    }

    /**
     * Delivers the published slots of a range.
     *
     * @return how many the handler took
     * @throws HandlerHalted if the handler threw and its policy said halt
     */
    abstract long deliver(long first, long last) throws HandlerHalted;

    /** Nothing is delivered any more: whoever kept the flyweight reads no memory that may have been freed. */
    abstract void end();

    /** The first slot of this handler's paths in a range, or one past its end. */
    final long nextAccepted(final long first, final long last) {
        // By address: published slots are in the slab, which lives as long as the handler.
        final long slots = slabAddress;
        final PathFilter accepting = filter;
        long slot = first;
        while (slot <= last &&
            !accepting.accepts(UnsafeApi.getLong(slots + CompletionSlab.offset(slot, mask) + IbvWc.STATUS_OFFSET))) {
            slot++;
        }
        return slot;
    }

    final boolean isFault(final long slot) {
        return slab.getInt(CompletionSlab.offset(slot, mask) + IbvWc.STATUS_OFFSET) == QueueFault.STATUS;
    }

    final void deliverFault(final long slot) throws HandlerHalted {
        final int offset = CompletionSlab.offset(slot, mask);
        final int queueIndex = slab.getShort(offset + IbvWc.QUEUE_INDEX_OFFSET) & 0xFFFF;
        try {
            handler.onQueueFault(queueIndex, context.queueName(queueIndex), slab.getInt(offset + IbvWc.VENDOR_ERR_OFFSET));
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot);
        }
    }
}
