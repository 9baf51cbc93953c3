package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The held slots of a handler, and the gating sequence that results from them.
 *
 * <p>The value of the sequence is the last slot that the handler has passed with no held slot up to it; the poller and later
 * stages read it. {@link #hold} belongs to the handler's thread, {@link #release} to any. A held slot is identified by its
 * sequence, which never repeats: a second or late release is detected and has no effect.
 */
final class HeldSlots extends Sequence {
    private static final long FREE = -1;

    private final Sequence passed;
    private final int mask;
    private final int limit;
    /** Indexed by slot: the sequence held there. */
    private final AtomicLongArray held;
    private final AtomicInteger count = new AtomicInteger();

    /**
     * Creates an instance without held slots.
     *
     * @param passed   the handler's sequence
     * @param capacity of the ring
     * @param limit    maximum number of held slots
     */
    HeldSlots(final Sequence passed, final int capacity, final int limit) {
        super(Sequencer.INITIAL_CURSOR_VALUE);
        this.passed = passed;
        this.mask = capacity - 1;
        this.limit = limit;
        final long[] free = new long[capacity];
        Arrays.fill(free, FREE);
        this.held = new AtomicLongArray(free);
    }

    /** Holds a slot that the handler has not passed yet; returns false at the limit. Handler's thread only. */
    boolean hold(final long sequence) {
        final int index = (int) sequence & mask;
        if (held.getPlain(index) == sequence) {
            return true;
        }
        if (count.get() >= limit) {
            return false;
        }
        count.incrementAndGet();
        held.setRelease(index, sequence);
        return true;
    }

    boolean isHeld(final long sequence) {
        // Volatile, so that it follows a volatile store before the call.
        return sequence != FREE && held.get((int) sequence & mask) == sequence;
    }

    /** Releases a slot; returns false if it was not held. Any thread. */
    boolean release(final long sequence) {
        if (sequence == FREE || !held.compareAndSet((int) sequence & mask, sequence, FREE)) {
            return false;
        }
        count.decrementAndGet();
        return true;
    }

    /** Number of held slots; a snapshot. */
    int count() {
        return count.get();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The inherited value caches the reader's progress, so that each slot is examined about once per lap. Concurrent readers
     * race to store it, which is harmless: every value found remains valid, because sequences do not repeat.
     */
    @Override
    public long get() {
        // Before the held slots: a hold is stored before its slot is passed, so none is missed.
        final long last = passed.get();
        long sequence = super.get();
        if (count.get() == 0) {
            sequence = last;
        } else {
            while (sequence < last && !isHeld(sequence + 1)) {
                sequence++;
            }
        }
        super.set(sequence);
        return sequence;
    }
}
