package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.internal.os.OwnedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The off-heap memory of the ring: a power of two contiguous slots of one {@link IbvWc} record in one allocation.
 * <pre>
 *   slot of sequence s:         offset (s &amp; (capacity - 1)) * 48
 *   its completion timestamp:   offset capacity * 48 + (s &amp; (capacity - 1)) * 8
 * </pre>
 *
 * <p>The polling thread and the provider write it; the handlers' threads and users of held slots read it. It is
 * reference-counted: the pipeline holds a reference until it is closed, each of its threads until the thread ends ({@link
 * PipelineThread}), and each held slot until its release ({@link HandlerSlots}). The last {@link #release} frees the memory.
 */
final class CompletionSlab {
    /** The largest capacity with offsets that fit an int. */
    static final int MAX_CAPACITY = Integer.highestOneBit(Integer.MAX_VALUE / IbvWc.SIZE_BYTES);

    /** A page: allocation touches each page, and no slot shares a cache line with other data. */
    private static final int ALIGNMENT_BYTES = 4096;

    private final Arena arena;
    private final MemorySegment memory;
    /** The records. */
    private final UnsafeBuffer buffer;
    private final long timestampsAddress;
    private final int mask;
    private final QueueRuns queueRuns;
    private final FaultMark faults;
    private final AtomicInteger users = new AtomicInteger(1);
    private Runnable onFreed = () -> { };
    /** Whether flyweights of users show records, which a user's mistake may read after the end. */
    private volatile boolean viewed;
    /** Then keeps the addresses for as long as this, and so a flyweight, is reachable. */
    @SuppressWarnings("unused")
    private MemorySegment addresses;

    /** Allocates a slab with one reference, owned by the caller. */
    CompletionSlab(final int capacity) {
        if (capacity < 2 || capacity > MAX_CAPACITY || Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException(
                "ring size " + capacity + " is not a power of two from 2 to " + MAX_CAPACITY);
        }
        // First what the garbage collector frees if the next allocation fails.
        queueRuns = new QueueRuns(capacity);
        faults = new FaultMark(capacity);
        final int recordsBytes = capacity * IbvWc.SIZE_BYTES;
        arena = OwnedMemory.newArena();
        memory = arena.allocate(recordsBytes + (long) capacity * Long.BYTES, ALIGNMENT_BYTES);
        buffer = new UnsafeBuffer(memory.address(), recordsBytes);
        timestampsAddress = memory.address() + recordsBytes;
        mask = capacity - 1;
    }

    /** Sets an action of the thread that frees the memory; before other threads retain it. */
    void onFreed(final Runnable action) {
        onFreed = action;
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    /** Address of the timestamps of all slots. */
    long timestampsAddress() {
        return timestampsAddress;
    }

    /** The timestamp of a slot, whose queue has timestamps; while the memory is not freed. */
    long timestamp(final long slot) {
        return UnsafeApi.getLong(timestampsAddress + slot * Long.BYTES);
    }

    int capacity() {
        return mask + 1;
    }

    /** A user's flyweight is about to show a record, and will have a reference to this. */
    void onView() {
        if (!viewed) {
            viewed = true;
        }
    }

    int mask() {
        return mask;
    }

    /** The completion queues of the slots. */
    QueueRuns queueRuns() {
        return queueRuns;
    }

    /** The queue faults among the slots. */
    FaultMark faults() {
        return faults;
    }

    /** Offset in bytes of the slot of a sequence, for a slab with the given mask. */
    static int offset(final long sequence, final int mask) {
        return ((int) sequence & mask) * IbvWc.SIZE_BYTES;
    }

    /**
     * Adds a reference; called by a thread that holds one, or on its behalf.
     *
     * @throws IllegalStateException if the memory has been freed
     */
    void retain() {
        if (users.getAndIncrement() == 0) {
            users.decrementAndGet();
            throw new IllegalStateException("the slab has been freed");
        }
    }

    /** Drops a reference; the last one frees the memory. */
    void release() {
        if (users.decrementAndGet() == 0) {
            buffer.wrap(0L, 0);
            if (viewed) {
                addresses = OwnedMemory.freeWhenUnreachable(arena, memory);
            } else {
                arena.close();
            }
            onFreed.run();
        }
    }

    boolean isFreed() {
        return users.get() == 0;
    }
}
