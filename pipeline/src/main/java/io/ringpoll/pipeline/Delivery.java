package io.ringpoll.pipeline;

import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.internal.verbs.RecordSource;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
import java.util.EnumSet;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Delivers the published slots of a handler's paths in place, and skips the others.
 *
 * <p>Belongs to the handler's thread. Slots are read by address: they lie within the slab, which outlives the handler, and bounds
 * checks would take a third of the loop.
 */
abstract class Delivery {
    private static final int ALL_PATHS = CompletionPaths.bits(EnumSet.allOf(CompletionPath.class));

    final UnsafeBuffer slab;
    final long slabAddress;
    final int mask;
    final HandlerFailures failures;
    /** Bit set, see {@link CompletionPaths#bits}. */
    final int acceptedPaths;
    private final HandlerLifecycle handler;
    private final HandlerContext context;
    private RecordSource source;

    Delivery(
        final HandlerConfig config, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        this.slab = slab.buffer();
        this.slabAddress = this.slab.addressOffset();
        this.mask = slab.mask();
        this.handler = config.handler();
        this.failures = failures;
        this.acceptedPaths = CompletionPaths.bits(config.paths());
        this.context = context;
    }

    /**
     * Delivers a range of published slots. A queue fault is a range of its own, so that the completions before it have an end of
     * batch.
     *
     * @return number of completions delivered
     * @throws HandlerHalted if the handler threw and its policy decided to halt
     */
    abstract long deliver(long first, long last) throws HandlerHalted;

    /** Sets the source of the slots' completion queues; before the first slot. */
    void source(final RecordSource queues) {
        source = queues;
    }

    /** Ends the delivery: a retained flyweight no longer refers to the slab, which may be freed. */
    abstract void end();

    /** The last slot of this handler's paths in a range, or the slot before its first. */
    final long lastAccepted(final long first, final long last) {
        if (acceptedPaths == ALL_PATHS) {
            // Only if needed: the poller may be about to write the next record into the same cache line.
            return last;
        }
        long slot = last;
        while (slot >= first && !accepts(UnsafeApi.getLong(addressOf(slot) + IbvWc.STATUS_OFFSET))) {
            slot--;
        }
        return slot;
    }

    final boolean accepts(final long statusAndOpcode) {
        return (acceptedPaths & CompletionPaths.bit(statusAndOpcode)) != 0;
    }

    /** Whether a record reports a queue's failure. */
    private static boolean isFault(final long statusAndOpcode) {
        return CompletionPaths.status(statusAndOpcode) == QueueFault.STATUS;
    }

    final long addressOf(final long slot) {
        return slabAddress + CompletionSlab.offset(slot, mask);
    }

    /** Number of slots from one to another that are contiguous in memory. */
    final int contiguous(final long slot, final long last) {
        return (int) Math.min(last - slot + 1, mask + 1 - ((int) slot & mask));
    }

    /** The last slot of a batch, which ends before a queue fault: a fault is a batch of its own. */
    final long endAtFault(final long first, final long last) {
        for (long slot = first; slot <= last; slot++) {
            if (isFault(UnsafeApi.getLong(addressOf(slot) + IbvWc.STATUS_OFFSET))) {
                return Math.max(first, slot - 1);
            }
        }
        return last;
    }

    /** Delivers the only slot of a range if it contains a fault that the handler accepts; returns false otherwise. */
    final boolean deliverFault(final long slot) throws HandlerHalted {
        final long statusAndOpcode = UnsafeApi.getLong(addressOf(slot) + IbvWc.STATUS_OFFSET);
        if (!isFault(statusAndOpcode) || !accepts(statusAndOpcode)) {
            return false;
        }
        final int offset = CompletionSlab.offset(slot, mask);
        final int queueIndex = source.queueIndex(addressOf(slot));
        try {
            handler.onQueueFault(queueIndex, context.queueName(queueIndex), slab.getInt(offset + IbvWc.VENDOR_ERR_OFFSET));
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot, 1);
        }
        return true;
    }
}
