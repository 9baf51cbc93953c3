package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.TimeoutException;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletion;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.DistinctErrorLog;

/**
 * Runs one handler: waits for published slots, shows those of its path to the handler in place, and passes the others by.
 *
 * <p>{@link #run} belongs to the handler's thread; {@link #stopAfter} and {@link #halt} may come from any. The sequence is stored
 * once a batch. It does what the Disruptor's {@code BatchEventProcessor} does, and three things more: the end of a batch is
 * that of the path rather than of the ring, it can be told to end at a sequence, and it can end for good on a failure.
 */
final class CompletionProcessor implements Runnable {
    private final HandlerSpec spec;
    private final HandlerBarrier barrier;
    private final Sequence sequence = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final UnsafeBuffer slab;
    private final int mask;
    private final int batchLimit;
    private final PathFilter filter;
    private final CompletionHandler handler;
    private final HandlerContext context;
    private final HandlerCounters counters;
    private final DistinctErrorLog errorLog;
    private final WorkCompletion completion = new WorkCompletion();

    private volatile long stopAfter = Long.MAX_VALUE;
    private volatile boolean halted;

    CompletionProcessor(
        final HandlerSpec spec,
        final CompletionSlab slab,
        final HandlerBarrier barrier,
        final HandlerCounters counters,
        final HandlerContext context) {
        this.spec = spec;
        this.barrier = barrier;
        this.slab = slab.buffer();
        this.mask = slab.mask();
        // A quarter of the ring: the poller gets slots back while a long batch is under way.
        this.batchLimit = Math.max(1, slab.capacity() / 4);
        this.filter = new PathFilter(spec.paths());
        this.handler = spec.handler();
        this.context = context;
        this.counters = counters;
        this.errorLog = context.errorLog();
        completion.wrap(this.slab, 0);
    }

    /** The last sequence that this handler has passed. */
    Sequence sequence() {
        return sequence;
    }

    HandlerSpec spec() {
        return spec;
    }

    /** Completions handled so far. */
    long handled() {
        return counters.handled.get();
    }

    /** Exceptions thrown so far. */
    long exceptions() {
        return counters.exceptions.get();
    }

    /** Ends the handler once it has passed a sequence; any thread. */
    void stopAfter(final long lastSequence) {
        stopAfter = lastSequence;
        barrier.alert();
    }

    /** Ends the handler at the end of its present batch; any thread. */
    void halt() {
        halted = true;
        barrier.alert();
    }

    @Override
    public void run() {
        boolean failed = false;
        try {
            ThreadPlacement.pinCurrentThread(spec.cpu());
            handler.onStart();
            processBatches();
        } catch (final HandlerHalted halt) {
            failed = true;
        } catch (final Throwable failure) {
            failed = true;
            record(failure);
            context.onHandlerEnded(spec, failure);
        } finally {
            try {
                handler.onShutdown();
            } catch (final Throwable failure) {
                record(failure);
                if (!failed) {
                    context.onHandlerEnded(spec, failure);
                }
            }
        }
    }

    private void processBatches() throws HandlerHalted {
        long next = sequence.get() + 1;
        while (!halted && next <= stopAfter) {
            final long available = waitFor(next);
            if (available >= next) {
                final long last = Math.min(available, next + batchLimit - 1);
                processBatch(next, last);
                sequence.set(last);
                next = last + 1;
            }
        }
    }

    /** Waits for a slot; a result below the one asked for means: look again whether to go on. */
    private long waitFor(final long next) {
        try {
            return barrier.waitFor(next);
        } catch (final AlertException woken) {
            barrier.clearAlert();
            // What is published already is handled before the end.
            return Math.min(barrier.getCursor(), stopAfter);
        } catch (final TimeoutException | InterruptedException retry) {
            return next - 1;
        }
    }

    private void processBatch(final long first, final long last) throws HandlerHalted {
        long slot = nextAccepted(first, last);
        long handled = 0;
        while (slot <= last) {
            final long following = nextAccepted(slot + 1, last);
            deliver(slot, following > last);
            handled++;
            slot = following;
        }
        if (handled > 0) {
            counters.handled.getAndAddRelease(handled);
        }
    }

    /** The first slot of this handler's paths in a range, or one past its end. */
    private long nextAccepted(final long first, final long last) {
        final UnsafeBuffer slots = slab;
        final PathFilter accepting = filter;
        long slot = first;
        while (slot <= last &&
            !accepting.accepts(slots.getLong(CompletionSlab.offset(slot, mask) + IbvWc.STATUS_OFFSET))) {
            slot++;
        }
        return slot;
    }

    private void deliver(final long slot, final boolean endOfBatch) throws HandlerHalted {
        final WorkCompletion wc = completion.moveTo(CompletionSlab.offset(slot, mask));
        try {
            if (wc.status() != QueueFault.STATUS) {
                handler.onCompletion(wc, slot, endOfBatch);
            } else {
                handler.onQueueFault(wc.queueIndex(), context.queueName(wc.queueIndex()), wc.vendorError());
            }
        } catch (final Throwable failure) {
            onFailure(failure, slot);
        }
    }

    private void onFailure(final Throwable failure, final long slot) throws HandlerHalted {
        record(failure);
        if (spec.failurePolicy().decide(failure, slot) == FailurePolicy.Decision.HALT) {
            sequence.set(slot);
            context.onHandlerEnded(spec, failure);
            throw HandlerHalted.INSTANCE;
        }
    }

    private void record(final Throwable failure) {
        counters.exceptions.incrementRelease();
        errorLog.record(failure);
    }

    /** Unwinds the handler's loop after its policy has said halt. */
    private static final class HandlerHalted extends Exception {
        private static final long serialVersionUID = 1L;
        private static final HandlerHalted INSTANCE = new HandlerHalted();

        private HandlerHalted() {
            super("halted by its failure policy", null, false, false);
        }
    }
}
