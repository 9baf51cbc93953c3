package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.internal.verbs.PathFilter;
import io.ringpoll.internal.verbs.RecordSource;
import io.ringpoll.poller.QueueFault;
import java.util.EnumSet;
import java.util.Set;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Delivers the published slots of a handler's paths in place, and skips the others.
 *
 * <p>Belongs to the handler's thread. Slots are read by address: they lie within the slab, which outlives the handler, and bounds
 * checks would take a third of the loop.
 */
abstract class Delivery {
    private static final int ERROR = CompletionPaths.bits(EnumSet.of(CompletionPath.ERROR));

    private static final int SEND_WRITE = CompletionPaths.bits(EnumSet.of(CompletionPath.SEND_WRITE));
    private static final int RECEIVE = CompletionPaths.bits(EnumSet.of(CompletionPath.RECEIVE));
    private static final int ALL_PATHS = CompletionPaths.bits(EnumSet.allOf(CompletionPath.class));

    final UnsafeBuffer slab;
    final long slabAddress;
    final int mask;
    final HandlerFailures failures;
    /** Bit set, see {@link CompletionPaths#bits}. */
    final int acceptedPaths;
    private final PathFilter filter;
    private final FaultMark faults;
    private final HandlerLifecycle handler;
    private final HandlerContext context;
    private RecordSource source;
    /** The paths that are counted here; a bit set. */
    private int countedPaths;
    private PollerCounterSet pathCounters;
    private boolean countsWhileDelivering;
    /** Whether the number of delivered completions is that of the only path. */
    private boolean countsHandled;
    /** Receives of the range, if they are counted while it is delivered. */
    private int receives;
    /** Errors of the range, if they are counted while it is delivered. */
    private int errors;

    Delivery(
        final HandlerConfig config, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        this.slab = slab.buffer();
        this.slabAddress = this.slab.addressOffset();
        this.mask = slab.mask();
        this.handler = config.handler();
        this.failures = failures;
        this.acceptedPaths = CompletionPaths.bits(config.paths());
        this.filter = PathFilter.of(acceptedPaths);
        this.faults = slab.faults();
        this.context = context;
    }

    /**
     * Delivers a range of published slots and counts its completions by path. A queue fault is a range of its own, so that the
     * completions before it have an end of batch.
     *
     * @return number of completions and faults delivered
     * @throws HandlerHalted if the handler threw and its policy decided to halt
     */
    final long deliver(final long first, final long last) throws HandlerHalted {
        final long handled;
        try {
            handled = deliverRange(first, last);
        } catch (final HandlerHalted halt) {
            if (countedPaths != 0) {
                count(first, halt.sequence(), halt.handled());
            }
            throw halt;
        }
        if (countedPaths != 0) {
            count(first, last, handled);
        }
        return handled;
    }

    /** Delivers a range, see {@link #deliver}; calls {@link #onDelivered} if {@link #countsWhileDelivering()}. */
    abstract long deliverRange(long first, long last) throws HandlerHalted;

    /**
     * Makes this handler count the completions of some paths; before the first slot.
     *
     * @param paths of its own, or discarded ones
     */
    final void countPaths(final Set<CompletionPath> paths, final PollerCounterSet counters) {
        countedPaths = CompletionPaths.bits(paths);
        pathCounters = counters;
        countsWhileDelivering = countedPaths != 0 && acceptedPaths == ALL_PATHS;
        countsHandled = countedPaths == acceptedPaths && Integer.bitCount(acceptedPaths) == 1;
    }

    /** Whether this handler accepts all completions and counts them while they are in its core's cache. */
    final boolean countsWhileDelivering() {
        return countsWhileDelivering;
    }

    /**
     * Counts the completions of a range.
     *
     * @param received number of receives, if none has failed
     * @param statuses their statuses and opcodes, combined by or
     */
    final void onDelivered(final long first, final long last, final int received, final long statuses) {
        if (CompletionPaths.isError(statuses)) {
            classifyAll(first, last);
        } else {
            receives += received;
        }
    }

    private void classifyAll(final long first, final long last) {
        for (long slot = first; slot <= last; slot += contiguous(slot, last)) {
            classify(slot, contiguous(slot, last));
        }
    }

    /** Counts contiguous completions of which some may have failed. */
    final void classify(final long first, final int number) {
        final long errorsAndReceives = CompletionPaths.tallyWithErrors(addressOf(first), number);
        receives += (int) errorsAndReceives;
        errors += (int) (errorsAndReceives >>> Integer.SIZE);
        if ((countedPaths & ERROR) != 0) {
            countStatuses(first, number);
        }
    }

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
        while (slot >= first) {
            final int count = (int) Math.min(slot - first, (int) slot & mask) + 1;
            final long address = addressOf(slot) + IbvWc.STATUS_OFFSET;
            for (int i = 0; i < count; i++) {
                if (accepts(UnsafeApi.getLong(address - i * (long) IbvWc.SIZE_BYTES))) {
                    return slot - i;
                }
            }
            slot -= count;
        }
        return slot;
    }

    final boolean accepts(final long statusAndOpcode) {
        return filter.accepts(statusAndOpcode);
    }

    /** Whether the record of a slot reports a queue's failure; else it is a completion of any status. */
    private boolean isFault(final long slot, final long statusAndOpcode) {
        return CompletionPaths.status(statusAndOpcode) == QueueFault.STATUS && faults.contains(slot);
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
            if (faults.contains(slot)) {
                return Math.max(first, slot - 1);
            }
        }
        return last;
    }

    /** Delivers the only slot of a range if it contains a fault that the handler accepts; returns false otherwise. */
    final boolean deliverFault(final long slot) throws HandlerHalted {
        final long statusAndOpcode = UnsafeApi.getLong(addressOf(slot) + IbvWc.STATUS_OFFSET);
        if (!isFault(slot, statusAndOpcode) || !accepts(statusAndOpcode)) {
            return false;
        }
        final int offset = CompletionSlab.offset(slot, mask);
        final int queueIndex = source.queueIndex(addressOf(slot));
        final int code = slab.getInt(offset + IbvWc.VENDOR_ERR_OFFSET);
        try {
            handler.onQueueFault(queueIndex, context.queueName(queueIndex), code, context.attachments().get(queueIndex));
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot, 1);
        }
        return true;
    }

    /** Counts the completions of a range by path. */
    private void count(final long first, final long last, final long handled) {
        if (countsHandled) {
            countHandled(first, last, handled);
        } else if (first != last || !isFault(first, UnsafeApi.getLong(addressOf(first) + IbvWc.STATUS_OFFSET))) {
            if (!countsWhileDelivering) {
                classifyAll(first, last);
            }
            addClasses(last - first + 1);
        }
    }

    /** Counts the completions of the only path, those that were delivered. */
    private void countHandled(final long first, final long last, final long handled) {
        if (acceptedPaths == SEND_WRITE) {
            pathCounters.onSendWrites(handled);
        } else if (acceptedPaths == RECEIVE) {
            pathCounters.onReceives(handled);
        } else if (handled != 0 && !isFault(first, UnsafeApi.getLong(addressOf(first) + IbvWc.STATUS_OFFSET))) {
            for (long slot = first; slot <= last; slot += contiguous(slot, last)) {
                countStatuses(slot, contiguous(slot, last));
            }
            pathCounters.onErrors(handled);
        }
    }

    private void addClasses(final long slots) {
        if ((countedPaths & SEND_WRITE) != 0) {
            pathCounters.onSendWrites(slots - receives - errors);
        }
        if ((countedPaths & RECEIVE) != 0) {
            pathCounters.onReceives(receives);
        }
        if ((countedPaths & ERROR) != 0) {
            pathCounters.onErrors(errors);
        }
        receives = 0;
        errors = 0;
    }

    /** Counts the errors of contiguous slots by status. */
    private void countStatuses(final long first, final int number) {
        for (int i = 0; i < number; i++) {
            final long statusAndOpcode = UnsafeApi.getLong(addressOf(first + i) + IbvWc.STATUS_OFFSET);
            if (CompletionPaths.isError(statusAndOpcode)) {
                pathCounters.onError(CompletionPaths.status(statusAndOpcode));
            }
        }
    }
}
