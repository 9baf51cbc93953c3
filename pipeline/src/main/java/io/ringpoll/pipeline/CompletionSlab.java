package io.ringpoll.pipeline;

import io.ringpoll.os.OwnedMemory;
import io.ringpoll.verbs.IbvWc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The off-heap memory of the ring: a power of two slots of one {@link IbvWc} record, side by side in one allocation.
 *
 * <pre>
 *   slot of sequence s:   offset (s &amp; (capacity - 1)) * 48
 * </pre>
 *
 * <p>Written by the polling thread and the provider, read by the handlers' threads and by those that hold slots back. The users
 * are the pipeline until it is closed, each of its threads until it ends ({@link PipelineThread}), and each held slot
 * ({@link HandlerSlots}). A user counts from {@link #retain} to {@link #release}, and the last one frees the memory.
 */
final class CompletionSlab {
    /** The largest ring whose slab an int offset reaches. */
    static final int MAX_CAPACITY = Integer.highestOneBit(Integer.MAX_VALUE / IbvWc.SIZE_BYTES);

    /** A page: the first touch of each is made here, and no slot shares a line with anything else. */
    private static final int ALIGNMENT_BYTES = 4096;

    private final Arena arena = OwnedMemory.newArena();
    private final UnsafeBuffer buffer;
    private final int mask;
    private final AtomicInteger users = new AtomicInteger(1);

    /** Allocates a slab with one user: whoever made it. */
    CompletionSlab(final int capacity) {
        if (capacity < 2 || capacity > MAX_CAPACITY || Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException(
                "ring size " + capacity + " is not a power of two from 2 to " + MAX_CAPACITY);
        }
        final MemorySegment memory = arena.allocate((long) capacity * IbvWc.SIZE_BYTES, ALIGNMENT_BYTES);
        buffer = new UnsafeBuffer(memory.address(), (int) memory.byteSize());
        mask = capacity - 1;
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    int capacity() {
        return mask + 1;
    }

    int mask() {
        return mask;
    }

    /** Offset in bytes of the slot that holds a sequence, for a slab with the given mask. */
    static int offset(final long sequence, final int mask) {
        return ((int) sequence & mask) * IbvWc.SIZE_BYTES;
    }

    /**
     * Counts one more user; called by a thread that is one already, or on behalf of it.
     *
     * @throws IllegalStateException if the memory has been freed
     */
    void retain() {
        if (users.getAndIncrement() == 0) {
            users.decrementAndGet();
            throw new IllegalStateException("the slab has been freed");
        }
    }

    /** Counts one user less, and frees the memory after the last. */
    void release() {
        if (users.decrementAndGet() == 0) {
            buffer.wrap(0L, 0);
            arena.close();
        }
    }

    boolean isFreed() {
        return users.get() == 0;
    }
}
