package io.ringpoll.verify.run;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The account of every work request by identity: posted once, completed once.
 *
 * <p>Off-heap, 32 bytes per slot. A slot belongs to one poster, which opens it before the post; the handler of the completion
 * closes it by compare-and-set, so a second completion of the same work request finds it closed.
 *
 * <pre>
 *   offset  0   state: generation of the slot &lt;&lt; 1 | open, 8 bytes
 *           8   time of the post, nanoseconds of System.nanoTime, 8 bytes
 *          16   identity of the payload, 8 bytes
 *          24   kind of the operation, 4 bytes
 *          28   detail of the operation, 4 bytes
 *   wr_id: generation (low 40 bits) &lt;&lt; 24 | slot
 * </pre>
 */
final class Ledger {
    private static final int SLOT_BITS = 24;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
    private static final int STATE_OFFSET = 0;
    private static final int POST_TIME_OFFSET = 8;
    private static final int IDENTITY_OFFSET = 16;
    private static final int KIND_OFFSET = 24;
    private static final int DETAIL_OFFSET = 28;
    private static final int SLOT_LENGTH = 32;
    private static final OperationKind[] KINDS = OperationKind.values();

    private final UnsafeBuffer slots;
    private final SlotOwner[] owners;
    private final int capacity;
    private int assigned;

    /**
     * Creates a ledger with all slots closed.
     *
     * @param capacity number of slots, at most 2^24
     */
    Ledger(final int capacity) {
        if (capacity > 1 << SLOT_BITS) {
            throw new IllegalArgumentException("a ledger has at most " + (1 << SLOT_BITS) + " slots, not " + capacity);
        }
        this.capacity = capacity;
        this.slots = new UnsafeBuffer(ByteBuffer.allocateDirect(capacity * SLOT_LENGTH));
        this.owners = new SlotOwner[capacity];
    }

    /** Allocates adjacent slots for an owner; any thread. */
    synchronized int assign(final int count) {
        if (assigned + count > capacity) {
            throw new IllegalStateException("the ledger's " + capacity + " slots are used up");
        }
        final int first = assigned;
        assigned += count;
        return first;
    }

    /** Sets the owner of these slots; before any of them is opened. */
    void setOwner(final int first, final int count, final SlotOwner owner) {
        for (int slot = first; slot < first + count; slot++) {
            owners[slot] = owner;
        }
    }

    SlotOwner owner(final int slot) {
        return owners[slot];
    }

    /** Opens a closed slot; poster thread. Returns the identifier of the work request. */
    long open(final int slot, final OperationKind kind, final int detail, final long identity) {
        final int at = slot * SLOT_LENGTH;
        final long generation = (slots.getLong(at + STATE_OFFSET) >>> 1) + 1;
        slots.putInt(at + KIND_OFFSET, kind.ordinal());
        slots.putInt(at + DETAIL_OFFSET, detail);
        slots.putLong(at + IDENTITY_OFFSET, identity);
        slots.putLong(at + POST_TIME_OFFSET, System.nanoTime());
        slots.putLongRelease(at + STATE_OFFSET, generation << 1 | 1);
        return generation << SLOT_BITS | slot;
    }

    /** Closes a slot after a rejected post; poster thread. */
    void cancel(final int slot) {
        final int at = slot * SLOT_LENGTH;
        slots.putLongRelease(at + STATE_OFFSET, slots.getLong(at + STATE_OFFSET) & ~1L);
    }

    /** Whether the work request of a slot is outstanding; any thread. */
    boolean isOpen(final int slot) {
        return (slots.getLongAcquire(slot * SLOT_LENGTH + STATE_OFFSET) & 1) != 0;
    }

    /**
     * Finds the slot of an outstanding work request.
     *
     * @return its slot, or -1 if no such work request is open: it has completed before, or was never posted
     */
    int find(final long workRequestId) {
        final int slot = (int) workRequestId & SLOT_MASK;
        return slot < capacity && slots.getLongAcquire(slot * SLOT_LENGTH + STATE_OFFSET) == openState(workRequestId) ? slot : -1;
    }

    /** Closes the slot of a work request; false if it was closed before. Handler thread. */
    boolean close(final int slot, final long workRequestId) {
        final long open = openState(workRequestId);
        return slots.compareAndSetLong(slot * SLOT_LENGTH + STATE_OFFSET, open, open & ~1L);
    }

    /** The time of the post; valid while the slot is open. */
    long postTimeNs(final int slot) {
        return slots.getLong(slot * SLOT_LENGTH + POST_TIME_OFFSET);
    }

    /** The kind of the operation; valid while the slot is open. */
    OperationKind kind(final int slot) {
        return KINDS[slots.getInt(slot * SLOT_LENGTH + KIND_OFFSET)];
    }

    /** The detail of the operation; valid while the slot is open. */
    int detail(final int slot) {
        return slots.getInt(slot * SLOT_LENGTH + DETAIL_OFFSET);
    }

    /** Identity of the payload; valid while the slot is open. */
    long identity(final int slot) {
        return slots.getLong(slot * SLOT_LENGTH + IDENTITY_OFFSET);
    }

    /** The number of open slots of a range; any thread. */
    int openSlots(final int first, final int count) {
        int open = 0;
        for (int slot = first; slot < first + count; slot++) {
            if (isOpen(slot)) {
                open++;
            }
        }
        return open;
    }

    /** The number of open slots; any thread. */
    int openSlots() {
        return openSlots(0, capacity);
    }

    private static long openState(final long workRequestId) {
        return workRequestId >>> SLOT_BITS << 1 | 1;
    }
}
