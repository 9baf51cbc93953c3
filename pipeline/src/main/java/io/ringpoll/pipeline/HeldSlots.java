package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The slots that a handler has passed but keeps from being reused, and with them what the poller may take back.
 *
 * <p>As a sequence its value is the last slot that the handler has passed with all before it given back; the poller and later
 * stages read it. {@link #hold} belongs to the handler's thread, {@link #giveBack} to any. A held slot is known by its sequence,
 * which never comes again: giving one back twice, or late, is found out and harms nobody.
 */
final class HeldSlots extends Sequence {
    private static final long FREE = -1;

    private final Sequence passed;
    private final int mask;
    private final int limit;
    /** By slot: the sequence that is held there. */
    private final AtomicLongArray held;
    private final AtomicInteger count = new AtomicInteger();

    /**
     * Creates an account without held slots.
     *
     * @param passed   the last slot that the handler has passed
     * @param capacity of the ring
     * @param limit    how many may be held at once
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

    /** Keeps a slot that the handler has not passed yet; false if the limit is reached. Handler's thread only. */
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
        return held.getAcquire((int) sequence & mask) == sequence;
    }

    /** Gives a slot back; false if it was not held. Any thread. */
    boolean giveBack(final long sequence) {
        if (!held.compareAndSet((int) sequence & mask, sequence, FREE)) {
            return false;
        }
        count.decrementAndGet();
        return true;
    }

    /** How many slots are held; a moment's value. */
    int count() {
        return count.get();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The inherited value remembers how far a reader has come, so that each slot is looked at about once a lap. Readers race
     * for it, which does no harm: whatever one of them found stays true, since sequences do not come again.
     */
    @Override
    public long get() {
        // Before the holds: a hold is entered before the slot is passed, so none is missed.
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
