package io.ringpoll.internal.verbs;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Keeps the completions of a queue that several queue pairs share while one of these is destroyed.
 *
 * <p>Some devices remove the unpolled completions of a queue pair when it is destroyed; others keep them. A receive that is
 * removed from a shared queue would be lost: its buffer never returns to the user, and it counts in the {@link CompletionBudget}
 * forever. So the thread that destroys a queue pair first takes all completions out of the queue, and polls return these before
 * those of the queue: each once, and in order.
 *
 * <p>A poll asks {@link #isActive()} between entering and leaving its {@link io.ringpoll.internal.lifecycle.HotCalls}, and
 * polls here if
 * it is active. {@link io.ringpoll.internal.lifecycle.HotCalls#awaitQuiescence()} is called between {@link #begin} and {@link
 * #complete};
 * after it no poll runs on an older result of {@link #isActive()}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_qp.3.html">ibv_destroy_qp(3)</a>
 */
public final class CompletionHandover {
    private static final int BATCH = 64;

    /** The source of polls otherwise. */
    @FunctionalInterface
    public interface Source {
        /**
         * Polls the device's queue.
         *
         * @param wcAddress  as for {@link CompletionQueue#poll}
         * @param maxEntries as for {@link CompletionQueue#poll}
         * @return as {@link CompletionQueue#poll}
         */
        int poll(long wcAddress, int maxEntries);
    }

    private final int capacity;
    private MemorySegment records = MemorySegment.NULL;
    private long firstByte;
    private long endByte;
    private int underWay;
    private volatile boolean active;

    /**
     * Creates one that holds nothing.
     *
     * @param capacity capacity of the queue in completions
     */
    public CompletionHandover(final int capacity) {
        this.capacity = capacity;
    }

    /**
     * Whether polls are to be made here.
     *
     * @return true while completions are taken out, and until all of them have been polled
     */
    public boolean isActive() {
        return active;
    }

    /** Directs polls here, because a queue pair is about to be destroyed. */
    public synchronized void begin() {
        underWay++;
        active = true;
    }

    /**
     * Takes all completions out of the queue; the queue pair must not produce more.
     *
     * @param source the queue
     */
    public synchronized void complete(final Source source) {
        try {
            int taken = 0;
            int got;
            do {
                reserve();
                got = source.poll(records.address() + endByte, BATCH);
                endByte += (long) Math.max(0, got) * IbvWc.SIZE_BYTES;
                taken += got;
            } while (got > 0 && taken < capacity);
        } finally {
            underWay--;
            active = underWay > 0 || endByte > firstByte;
        }
    }

    /**
     * Polls the stored completions, and the queue if none is left.
     *
     * @param source     the queue
     * @param wcAddress  as for {@link CompletionQueue#poll}
     * @param maxEntries as for {@link CompletionQueue#poll}
     * @return as {@link CompletionQueue#poll}
     */
    @SuppressWarnings("restricted")
    public synchronized int poll(final Source source, final long wcAddress, final int maxEntries) {
        final long lengthBytes = Math.min(endByte - firstByte, (long) maxEntries * IbvWc.SIZE_BYTES);
        if (wcAddress == 0 || lengthBytes <= 0) {
            return source.poll(wcAddress, maxEntries);
        }
        MemorySegment.copy(records, firstByte, MemorySegment.ofAddress(wcAddress).reinterpret(lengthBytes), 0, lengthBytes);
        firstByte += lengthBytes;
        active = underWay > 0 || endByte > firstByte;
        return (int) (lengthBytes / IbvWc.SIZE_BYTES);
    }

    /** Makes room for a batch behind the stored completions. */
    private void reserve() {
        final long batchBytes = (long) BATCH * IbvWc.SIZE_BYTES;
        if (records.byteSize() - endByte < batchBytes) {
            final long keptBytes = endByte - firstByte;
            final MemorySegment larger = Arena.ofAuto().allocate(2 * keptBytes + batchBytes, Long.BYTES);
            MemorySegment.copy(records, firstByte, larger, 0, keptBytes);
            records = larger;
            firstByte = 0;
            endByte = keptBytes;
        }
    }
}
