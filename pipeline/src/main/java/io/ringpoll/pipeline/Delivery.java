package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.internal.verbs.RecordSource;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
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
    static final int ERROR = CompletionPaths.bits(EnumSet.of(CompletionPath.ERROR));

    private static final int SEND_WRITE = CompletionPaths.bits(EnumSet.of(CompletionPath.SEND_WRITE));
    private static final int RECEIVE = CompletionPaths.bits(EnumSet.of(CompletionPath.RECEIVE));
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
    /** The paths that are counted here; a bit set. */
    private int countedPaths;
    private PollerCounterSet pathCounters;
    /** Delivered receives of the range. */
    private int receives;
    /** Delivered errors of the range. */
    private int errors;
    /** Delivered queue faults of the range. */
    private int faults;

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
            count(first, halt.sequence(), halt.handled());
            throw halt;
        }
        count(first, last, handled);
        return handled;
    }

    /** Delivers a range, see {@link #deliver}; calls {@link #onReceives} and {@link #onError} for delivered completions. */
    abstract long deliverRange(long first, long last) throws HandlerHalted;

    /**
     * Makes this handler count the completions of some paths; before the first slot.
     *
     * @param paths of its own, or discarded ones
     */
    final void countPaths(final Set<CompletionPath> paths, final PollerCounterSet counters) {
        countedPaths = CompletionPaths.bits(paths);
        pathCounters = counters;
    }

    /** Counts delivered receives. */
    final void onReceives(final int number) {
        // Only if there are any: other handlers may read fields on the same cache line.
        if (number != 0) {
            receives += number;
        }
    }

    /** Counts a delivered error. */
    final void onError(final long statusAndOpcode) {
        errors++;
        if ((countedPaths & ERROR) != 0) {
            pathCounters.onError(CompletionPaths.status(statusAndOpcode));
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
        faults++;
        final int offset = CompletionSlab.offset(slot, mask);
        final int queueIndex = source.queueIndex(addressOf(slot));
        try {
            handler.onQueueFault(queueIndex, context.queueName(queueIndex), slab.getInt(offset + IbvWc.VENDOR_ERR_OFFSET));
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot, 1);
        }
        return true;
    }

    /** Counts the completions of a range by path, of which some were delivered. */
    private void count(final long first, final long last, final long handled) {
        if (countedPaths != 0) {
            if ((countedPaths & SEND_WRITE & acceptedPaths) != 0) {
                pathCounters.onSendWrites(handled - receives - errors - faults);
            }
            if ((countedPaths & RECEIVE & acceptedPaths) != 0) {
                pathCounters.onReceives(receives);
            }
            if ((countedPaths & ERROR & acceptedPaths) != 0) {
                pathCounters.onErrors(errors);
            }
            if ((countedPaths & ~acceptedPaths) != 0) {
                countDiscarded(first, last);
            }
        }
        if ((receives | errors | faults) != 0) {
            receives = 0;
            errors = 0;
            faults = 0;
        }
    }

    /** Counts the completions of the discarded paths in a range. */
    private void countDiscarded(final long first, final long last) {
        if (first == last && isFault(UnsafeApi.getLong(addressOf(first) + IbvWc.STATUS_OFFSET))) {
            return;
        }
        final int discarded = countedPaths & ~acceptedPaths;
        long slot = first;
        while (slot <= last) {
            final int number = contiguous(slot, last);
            final long errorsAndReceives = CompletionPaths.tally(addressOf(slot), number);
            final int received = (int) errorsAndReceives;
            final int failed = (int) (errorsAndReceives >>> Integer.SIZE);
            if ((discarded & SEND_WRITE) != 0) {
                pathCounters.onSendWrites(number - received - failed);
            }
            if ((discarded & RECEIVE) != 0) {
                pathCounters.onReceives(received);
            }
            if ((discarded & ERROR) != 0 && failed != 0) {
                countErrors(slot, number);
            }
            slot += number;
        }
    }

    private void countErrors(final long first, final int number) {
        int failed = 0;
        for (int i = 0; i < number; i++) {
            final long statusAndOpcode = UnsafeApi.getLong(addressOf(first + i) + IbvWc.STATUS_OFFSET);
            if (CompletionPaths.isError(statusAndOpcode)) {
                pathCounters.onError(CompletionPaths.status(statusAndOpcode));
                failed++;
            }
        }
        pathCounters.onErrors(failed);
    }
}
