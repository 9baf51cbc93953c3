package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.internal.verbs.RecordSource;
import io.ringpoll.poller.QueueFault;
import org.agrona.UnsafeApi;

/**
 * Delivers one completion at a time.
 */
final class SingleDelivery extends Delivery {
    private final CompletionHandler completionHandler;
    private final WorkCompletion completion = new WorkCompletion();

    SingleDelivery(
        final HandlerConfig config, final CompletionSlab slab, final HandlerFailures failures, final HandlerContext context) {
        super(config, slab, failures, context);
        this.completionHandler = (CompletionHandler) config.handler();
    }

    @Override
    long deliverRange(final long first, final long last) throws HandlerHalted {
        if (first != last) {
            return deliverSeveral(first, last);
        }
        // The most frequent case when the handler keeps up: loops would cost more than the completion. Here and not in a
        // method of its own: the JIT compiler inlines a limited number of levels, down to the handler's posts.
        final long record = addressOf(first);
        final long statusAndOpcode = UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET);
        if (CompletionPaths.status(statusAndOpcode) == QueueFault.STATUS && deliverFault(first)) {
            return 1;
        }
        if (!countsWhileDelivering() && !accepts(statusAndOpcode)) {
            return 0;
        }
        beginBatch(first, first);
        try {
            completionHandler.onCompletion(RecordAddress.show(completion, record), first, true);
        } catch (final Throwable failure) {
            onOneFailed(failure, first);
        }
        if (countsWhileDelivering()) {
            onDelivered(first, first, CompletionPaths.receiveBit(statusAndOpcode), statusAndOpcode);
        }
        return 1;
    }

    @Override
    void source(final RecordSource queues) {
        super.source(queues);
        RecordAddress.source(completion, queues);
    }

    @Override
    void end() {
        completion.unwrap();
    }

    private void onOneFailed(final Throwable failure, final long slot) throws HandlerHalted {
        if (countsWhileDelivering()) {
            onFailure(failure, slot, 0);
        } else {
            failures.onFailure(failure, slot, 1);
        }
    }

    /** Calls the handler before its first completion; inlined to nothing if the handler does not override it. */
    private void beginBatch(final long first, final long end) throws HandlerHalted {
        try {
            completionHandler.onBatchStart(end - first + 1);
        } catch (final Throwable failure) {
            failures.onFailure(failure, first - 1, 0);
        }
    }

    private long deliverSeveral(final long first, final long last) throws HandlerHalted {
        // Found first, from the end: endOfBatch must be known, and no record is read twice for it.
        final long end = lastAccepted(first, last);
        if (end >= first) {
            beginBatch(first, end);
        }
        long handled = 0;
        long slot = first;
        while (slot <= end) {
            final int count = contiguous(slot, end);
            try {
                handled += deliverContiguous(slot, count, end);
            } catch (final HandlerHalted halt) {
                throw halt.after(handled);
            }
            slot += count;
        }
        return handled;
    }

    /**
     * A loop with an int counter over contiguous records: the compiler keeps its state in registers as far as the handler
     * permits.
     */
    private int deliverContiguous(final long first, final int count, final long end) throws HandlerHalted {
        if (countsWhileDelivering()) {
            return deliverAll(first, count, end);
        }
        final long address = addressOf(first);
        int handled = 0;
        for (int i = 0; i < count; i++) {
            try {
                handled += deliver(address + i * (long) IbvWc.SIZE_BYTES, first + i, end);
            } catch (final HandlerHalted halt) {
                throw halt.after(handled);
            }
        }
        return handled;
    }

    /** As above, for a handler that accepts all completions and counts them by path. */
    private int deliverAll(final long first, final int count, final long end) throws HandlerHalted {
        final long address = addressOf(first);
        int received = 0;
        long statuses = 0;
        for (int i = 0; i < count; i++) {
            final long record = address + i * (long) IbvWc.SIZE_BYTES;
            // Without a branch on the path: it would be mispredicted.
            final long statusAndOpcode = UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET);
            received += CompletionPaths.receiveBit(statusAndOpcode);
            statuses |= statusAndOpcode;
            try {
                completionHandler.onCompletion(RecordAddress.show(completion, record), first + i, first + i == end);
            } catch (final Throwable failure) {
                onFailure(failure, first, i);
            }
        }
        onDelivered(first, first + count - 1, received, statuses);
        return count;
    }

    private void onFailure(final Throwable failure, final long first, final int index) throws HandlerHalted {
        try {
            failures.onFailure(failure, first + index, 1);
        } catch (final HandlerHalted halt) {
            classify(first, index + 1);
            throw halt.after(index);
        }
    }

    /** Delivers a completion if the handler accepts it; returns the number of completions delivered. */
    private int deliver(final long record, final long slot, final long end) throws HandlerHalted {
        if (!accepts(UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET))) {
            return 0;
        }
        try {
            completionHandler.onCompletion(RecordAddress.show(completion, record), slot, slot == end);
        } catch (final Throwable failure) {
            failures.onFailure(failure, slot, 1);
        }
        return 1;
    }
}
