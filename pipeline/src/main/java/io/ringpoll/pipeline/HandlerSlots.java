package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.internal.verbs.RecordSource;

/**
 * Controls the slots of one handler.
 */
final class HandlerSlots implements SlotControl {
    private final CompletionProcessor processor;
    private final CompletionSlab slab;
    private final long slabAddress;
    private final HandlerContext context;
    private final Sequence sequence;
    private final HeldSlots held;
    /** Of held slots, for any thread. */
    private final RecordSource heldSource;
    /** The last slot of the current batch; a Sequence because its value is padded and changes with each batch. */
    private final Sequence batchEnd = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    /** Set before the first batch. */
    private Thread owner;

    HandlerSlots(
        final CompletionProcessor processor, final CompletionSlab slab, final HandlerContext context, final Sequence sequence,
        final HeldSlots held) {
        this.processor = processor;
        this.slab = slab;
        this.context = context;
        this.sequence = sequence;
        this.held = held;
        slabAddress = slab.buffer().addressOffset();
        heldSource = new HeldSource();
    }

    /** Begins the control on the calling thread, the handler's. */
    void begin() {
        owner = Thread.currentThread();
    }

    /** Sets the last slot of the current batch; handler's thread only. */
    void beginBatch(final long last) {
        batchEnd.set(last);
    }

    /** Ends the control at the end of the handler's thread: slots can no longer be released early or held. */
    void end() {
        batchEnd.set(sequence.get());
    }

    @Override
    public void releaseThrough(final long releasedSequence) {
        checkInBatch(releasedSequence);
        sequence.set(releasedSequence);
        processor.signalStages();
    }

    @Override
    public boolean hold(final long heldSequence) {
        checkInBatch(heldSequence);
        if (held == null) {
            return false;
        }
        final boolean already = held.isHeld(heldSequence);
        if (!held.hold(heldSequence)) {
            return false;
        }
        if (!already) {
            slab.retain();
        }
        return true;
    }

    @Override
    public WorkCompletion view(final long heldSequence, final WorkCompletion flyweight) {
        // Before the look: another thread that releases the slot after it keeps the addresses of the slab, whose buffer it ends.
        slab.onView();
        if (held == null || !held.isHeld(heldSequence)) {
            throw notHeld(heldSequence);
        }
        flyweight.unwrap();
        // It is a reference to the slab.
        RecordAddress.source(flyweight, heldSource);
        return RecordAddress.show(flyweight, slabAddress + CompletionSlab.offset(heldSequence, slab.mask()));
    }

    @Override
    public void release(final long heldSequence) {
        if (held == null || !held.release(heldSequence)) {
            throw notHeld(heldSequence);
        }
        processor.signalStages();
        slab.release();
    }

    @Override
    public int held() {
        return held == null ? 0 : held.count();
    }

    private void checkInBatch(final long checked) {
        if (checked <= sequence.get() || checked > batchEnd.get()) {
            throw new IllegalStateException("slot " + checked + " is not in the current batch, " + (sequence.get() + 1) + " to " +
                batchEnd.get());
        }
        final Thread caller = Thread.currentThread();
        if (caller != owner) {
            // The handler may pass the slot meanwhile: it would go back, or lose the held slot to the poller.
            throw new IllegalStateException("slot " + checked + " belongs to thread " + owner.getName() + ", not to " +
                caller.getName() + ": a handler releases early and holds on its own thread");
        }
    }

    /** Looks up the completion queues of held slots; any thread. */
    private final class HeldSource implements RecordSource {
        @Override
        public int queueIndex(final long recordAddress) {
            return SlotSource.queueIndex(slab, slabAddress, recordAddress, held.get() + 1);
        }

        @Override
        public long timestamp(final long recordAddress) {
            return SlotSource.timestamp(slab, slabAddress, recordAddress, context.hasTimestamps(queueIndex(recordAddress)));
        }

        @Override
        public Object attachment(final long recordAddress) {
            return context.attachments().get(queueIndex(recordAddress));
        }
    }

    private static IllegalStateException notHeld(final long sequence) {
        return new IllegalStateException("slot " + sequence + " is not held: it never was, or has been released");
    }
}
