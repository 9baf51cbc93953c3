package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.TimeoutException;
import com.lmax.disruptor.WaitStrategy;

/**
 * Runs one handler on its thread: waits for slots that the poller and the stages before have passed, has them delivered, and
 * passes them in turn.
 *
 * <p>{@link #run} belongs to the handler's thread; {@link #stopAfter} may come from any. The sequence is stored once a batch. It
 * does what the Disruptor's {@code BatchEventProcessor} does, and more: the end of a batch is that of the path rather than of
 * the ring, slots can be given back early or late, it can be told to end at a sequence, and it can end for good on a failure.
 */
final class CompletionProcessor implements Runnable {
    private static final WaitStrategy[] NONE = {};

    private final HandlerSpec spec;
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
    /** Those of later stages that must be signalled; set before the start. */
    private WaitStrategy[] waitingStages = NONE;

    private volatile long stopAfter = Long.MAX_VALUE;
    private volatile boolean died;

    CompletionProcessor(
        final HandlerSpec spec,
        final CompletionSlab slab,
        final HandlerBarrier barrier,
        final FaultMark faults,
        final HandlerCounters counters,
        final HandlerContext context,
        final StartGate startGate) {
        this.spec = spec;
        this.barrier = barrier;
        this.faults = faults;
        this.counters = counters;
        this.context = context;
        this.startGate = startGate;
        this.failures = new HandlerFailures(spec, counters, context.errorLog());
        this.delivery = DeliveryClass.newDelivery(spec, slab, failures, context);
        this.heldSlots = spec.maxHeld() > 0 ? new HeldSlots(sequence, slab.capacity(), spec.maxHeld()) : null;
        this.slots = new HandlerSlots(this, slab, sequence, heldSlots);
    }

    /** The last sequence that this handler has passed and gives back: what the poller and later stages may pass. */
    Sequence passed() {
        return heldSlots == null ? sequence : heldSlots;
    }

    /** The last sequence that this handler has passed, held back or not. */
    long position() {
        return sequence.get();
    }

    HandlerSpec spec() {
        return spec;
    }

    HandlerCounters counters() {
        return counters;
    }

    /** How many slots it holds back. */
    int held() {
        return slots.held();
    }

    /** Whether it has ended before it was asked to. */
    boolean hasDied() {
        return died;
    }

    /** Names the waits of later stages that must be signalled when this handler has passed slots; before the start. */
    void signal(final WaitStrategy[] waits) {
        waitingStages = waits.clone();
    }

    /** Ends the handler once it has passed a sequence; any thread. */
    void stopAfter(final long lastSequence) {
        stopAfter = lastSequence;
        barrier.alert();
    }

    @Override
    public void run() {
        try {
            if (start()) {
                process();
                shutDown();
                counters.state.setRelease(died ? HandlerCounters.STATE_DIED : HandlerCounters.STATE_ENDED);
            }
        } finally {
            delivery.end();
            slots.end();
        }
    }

    private boolean start() {
        try {
            ThreadPlacement.pinCurrentThread(spec.cpu());
            spec.handler().onStart(slots);
        } catch (final Throwable failure) {
            startGate.failed(spec.roleName(), failure);
            return false;
        }
        counters.state.setRelease(HandlerCounters.STATE_RUNNING);
        startGate.ready(spec.roleName());
        return true;
    }

    /** Handles batches until it is told to end, or a failure ends it. */
    private void process() {
        try {
            processBatches();
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
                slots.beginBatch(last);
                deliver(next, last);
                next = last + 1;
            }
        }
    }

    private long endOfBatch(final long first, final long available) {
        final long last = Math.min(available, first + spec.batchLimit() - 1);
        return faults.last() < first ? last : delivery.endAtFault(first, last);
    }

    private void deliver(final long first, final long last) throws HandlerHalted {
        try {
            counters.onBatchEnd(last, delivery.deliver(first, last));
            pass(last);
        } catch (final HandlerHalted halt) {
            counters.onBatchEnd(halt.sequence(), halt.handled());
            pass(halt.sequence());
            throw halt;
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

    private void pass(final long last) {
        sequence.set(last);
        signalStages();
    }

    /** Wakes later stages because there may be something for them; any thread. */
    void signalStages() {
        final WaitStrategy[] waits = waitingStages;
        for (int i = 0; i < waits.length; i++) {
            waits[i].signalAllWhenBlocking();
        }
    }

    private void die(final Throwable failure) {
        died = true;
        counters.state.setRelease(HandlerCounters.STATE_DIED);
        context.onHandlerDied(spec.roleName(), failure);
    }

    private void shutDown() {
        try {
            spec.handler().onShutdown();
        } catch (final Throwable failure) {
            failures.record(failure);
        }
    }
}
