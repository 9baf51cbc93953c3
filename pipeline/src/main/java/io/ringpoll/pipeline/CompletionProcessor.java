package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.TimeoutException;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.internal.poller.MemoryFault;
import io.ringpoll.internal.poller.PollerCounterSet;
import java.util.Set;

/**
 * Runs one handler on its thread: waits for slots that the poller and the earlier stages have passed, delivers them, and advances
 * the handler's sequence.
 *
 * <p>{@link #run} belongs to the handler's thread; {@link #stopAfter} may be called by any thread. The sequence is stored once
 * per batch. In addition to the Disruptor's {@code BatchEventProcessor}, the end of a batch is that of the handler's paths rather
 * than of the ring, slots can be released early or held, and the processor can end at a sequence or permanently on a failure.
 */
final class CompletionProcessor implements Runnable {
    private static final WaitStrategy[] NONE = {};

    private final HandlerConfig config;
    private final HandlerBarrier barrier;
    private final FaultMark faults;
    private final HandlerCounters counters;
    private final HandlerContext context;
    private final HandlerFailures failures;
    private final Delivery delivery;
    private final StartGate startGate;
    private final Sequence sequence = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final HeldSlots heldSlots;
    private final HandlerSlots slots;
    /** Wait strategies of later stages that need a signal; set before the start. */
    private WaitStrategy[] waitingStages = NONE;

    /** The last slot of the current batch, or of the one before. */
    private long batchEnd = Sequencer.INITIAL_CURSOR_VALUE;

    private volatile long stopAfter = Long.MAX_VALUE;
    private volatile boolean halted;

    CompletionProcessor(
        final HandlerConfig config,
        final CompletionSlab slab,
        final HandlerBarrier barrier,
        final HandlerCounters counters,
        final HandlerContext context,
        final StartGate startGate) {
        this.config = config;
        this.barrier = barrier;
        this.faults = slab.faults();
        this.counters = counters;
        this.context = context;
        this.startGate = startGate;
        this.failures = new HandlerFailures(config, counters, context.errorLog());
        this.delivery = DeliveryClass.newDelivery(config, slab, failures, context);
        this.delivery.source(new SlotSource(slab, context, () -> sequence.get() + 1, () -> batchEnd));
        this.heldSlots = config.maxHeld() > 0 ? new HeldSlots(sequence, slab.capacity(), config.maxHeld()) : null;
        this.slots = new HandlerSlots(this, slab, context, sequence, heldSlots);
    }

    /** The sequence that gates the poller and later stages: the last slot passed, with no held slot up to it. */
    Sequence gatingSequence() {
        return heldSlots == null ? sequence : heldSlots;
    }

    /** The last slot that this handler has passed, held or not. */
    long position() {
        return sequence.get();
    }

    HandlerConfig config() {
        return config;
    }

    HandlerCounters counters() {
        return counters;
    }

    /** Number of held slots. */
    int held() {
        return slots.held();
    }

    /** Whether the handler has ended on a failure. */
    boolean hasHalted() {
        return halted;
    }

    /** Makes this handler count the completions of some paths; before the start. */
    void countPaths(final Set<CompletionPath> paths, final PollerCounterSet pathCounters) {
        delivery.countPaths(paths, pathCounters);
    }

    /** Sets the wait strategies of later stages to signal when this handler has passed slots; before the start. */
    void signal(final WaitStrategy[] waits) {
        waitingStages = waits.clone();
    }

    /** Ends the handler when it has passed a sequence; any thread. */
    void stopAfter(final long lastSequence) {
        stopAfter = lastSequence;
        try {
            barrier.alert();
        } catch (final Throwable failure) {
            // Of the user's wait strategy: the other handlers are to end, too.
            context.errorLog().onError(failure);
        }
    }

    @Override
    public void run() {
        slots.begin();
        try {
            if (start()) {
                process();
                shutDown();
                counters.onState(halted ? HandlerCounters.STATE_HALTED : HandlerCounters.STATE_ENDED);
            }
        } finally {
            delivery.end();
            slots.end();
        }
    }

    private boolean start() {
        try {
            PinnedThreads.pinCurrentThread(config.cpu());
            config.handler().onStart(slots);
        } catch (final Throwable failure) {
            startGate.failed(config.roleName(), failure);
            return false;
        }
        counters.onState(HandlerCounters.STATE_RUNNING);
        startGate.ready(config.roleName());
        return true;
    }

    /** Handles batches until the end is requested or a failure ends the handler. */
    private void process() {
        try {
            try {
                processBatches();
            } finally {
                // Before the end of the handler, which an error of the counters must not interrupt.
                MemoryFault.check();
            }
        } catch (final HandlerHalted halt) {
            die(halt.getCause());
        } catch (final Throwable failure) {
            failures.record(failure);
            die(failure);
        }
    }

    private void processBatches() throws HandlerHalted {
        long next = sequence.get() + 1;
        while (next <= stopAfter) {
            final long available = waitFor(next);
            if (available >= next) {
                counters.onBatchBegin(available - next + 1);
                final long last = endOfBatch(next, available);
                batchEnd = last;
                slots.beginBatch(last);
                deliver(next, last);
                next = last + 1;
            }
        }
    }

    private long endOfBatch(final long first, final long available) {
        final long last = Math.min(available, first + config.maxBatch() - 1);
        return faults.last() < first ? last : delivery.endAtFault(first, last);
    }

    private void deliver(final long first, final long last) throws HandlerHalted {
        try {
            counters.onBatchEnd(last, delivery.deliver(first, last));
            pass(last);
        } catch (final HandlerHalted halt) {
            counters.onHalt(halt.sequence(), halt.handled());
            pass(halt.sequence());
            throw halt;
        }
    }

    /** Waits for a slot. A result below {@code next} means that the loop condition must be checked again. */
    private long waitFor(final long next) throws HandlerHalted {
        try {
            return barrier.waitFor(next);
        } catch (final AlertException woken) {
            barrier.clearAlert();
            // Published slots are handled before the end.
            return Math.min(barrier.getCursor(), stopAfter);
        } catch (final TimeoutException noSlot) {
            onIdle(next - 1);
            return next - 1;
        } catch (final InterruptedException retry) {
            return next - 1;
        }
    }

    private void onIdle(final long passed) throws HandlerHalted {
        try {
            config.handler().onIdle();
        } catch (final Throwable failure) {
            failures.onFailure(failure, passed, 0);
        }
    }

    private void pass(final long last) {
        sequence.set(last);
        signalStages();
    }

    /** Signals the later stages; any thread. */
    void signalStages() {
        final WaitStrategy[] waits = waitingStages;
        for (int i = 0; i < waits.length; i++) {
            waits[i].signalAllWhenBlocking();
        }
    }

    private void die(final Throwable failure) {
        halted = true;
        counters.onState(HandlerCounters.STATE_HALTED);
        context.onHandlerHalted(config.roleName(), failure);
    }

    private void shutDown() {
        try {
            config.handler().onShutdown();
        } catch (final Throwable failure) {
            failures.record(failure);
        }
    }
}
