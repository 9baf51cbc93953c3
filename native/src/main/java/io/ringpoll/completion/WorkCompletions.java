package io.ringpoll.completion;

import io.ringpoll.device.DeviceException;
import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.ffm.JvmFlags;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * An array of completion records in off-heap memory, to poll into: its place and length are checked once, so that a poll cannot
 * write anywhere else.
 *
 * <p>It keeps the memory of {@link #allocate}, and the buffer of {@link #in}, for as long as it is reachable. One thread's at a
 * time.
 *
 * @see CompletionQueue#poll(WorkCompletions, int, int)
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public final class WorkCompletions {
    private static final int CACHE_LINE_BYTES = 64;

    private final DirectBuffer memory;
    private final int offset;
    private final int capacity;
    private final long address;
    /** A {@code long} for each record; null if there are none. */
    private final DirectBuffer timestamps;

    private WorkCompletions(
        final DirectBuffer memory, final int offset, final int capacity, final DirectBuffer timestamps) {
        this.memory = memory;
        this.offset = offset;
        this.capacity = capacity;
        address = memory.addressOffset() + offset;
        this.timestamps = timestamps;
    }

    /**
     * Allocates records, with a place for the timestamp of each.
     *
     * @param capacity number of records, at least 1
     * @return all zero, freed when it is reachable no more
     * @throws IllegalArgumentException if the capacity is below 1, or more than a buffer can hold
     * @throws io.ringpoll.device.DeviceException if the JVM lacks a flag; the message names it
     */
    public static WorkCompletions allocate(final int capacity) {
        final int lengthBytes = lengthBytes(capacity);
        JvmFlags.require(DeviceException::new);
        return new WorkCompletions(
            new UnsafeBuffer(Arena.ofAuto().allocate(lengthBytes, CACHE_LINE_BYTES).asByteBuffer()), 0, capacity,
            new UnsafeBuffer(Arena.ofAuto().allocate((long) capacity * Long.BYTES, CACHE_LINE_BYTES).asByteBuffer()));
    }

    /**
     * Takes records within a buffer, without places for timestamps.
     *
     * @param buffer   writable off-heap memory, which must stay for as long as this is used
     * @param offset   of the first record in bytes
     * @param capacity number of records, at least 1
     * @return a view of them
     * @throws IndexOutOfBoundsException if they are not within the buffer
     * @throws IllegalArgumentException  if the buffer is on the heap or read-only, the first record is not 8-byte aligned, or the
     *     capacity is below 1, or more than a buffer can hold
     */
    public static WorkCompletions in(final DirectBuffer buffer, final int offset, final int capacity) {
        buffer.boundsCheck(offset, lengthBytes(capacity));
        if (buffer.byteArray() != null) {
            throw new IllegalArgumentException("the buffer is on the heap, where a device cannot write completions");
        }
        if (buffer.byteBuffer() != null && buffer.byteBuffer().isReadOnly()) {
            // The pages of a mapped file may be read-only, too.
            throw new IllegalArgumentException("the buffer is read-only, and a device writes completions");
        }
        if ((buffer.addressOffset() + offset & Long.BYTES - 1) != 0) {
            throw new IllegalArgumentException("the first completion is not 8-byte aligned");
        }
        return new WorkCompletions(buffer, offset, capacity, null);
    }

    private static int lengthBytes(final int capacity) {
        if (capacity < 1 || capacity > Integer.MAX_VALUE / IbvWc.SIZE_BYTES) {
            throw new IllegalArgumentException("room for " + capacity + " completions: a buffer holds 1 to " +
                Integer.MAX_VALUE / IbvWc.SIZE_BYTES);
        }
        return capacity * IbvWc.SIZE_BYTES;
    }

    /**
     * The number of records.
     *
     * @return the same at each call, at least 1
     */
    public int capacity() {
        return capacity;
    }

    /**
     * Points a flyweight at a record.
     *
     * @param index     of the record, from 0
     * @param flyweight to be moved
     * @return the flyweight
     * @throws IndexOutOfBoundsException if there is no such record
     */
    public WorkCompletion show(final int index, final WorkCompletion flyweight) {
        Objects.checkIndex(index, capacity);
        return flyweight.wrap(memory, offset + index * IbvWc.SIZE_BYTES);
    }

    /**
     * The timestamp of a record that was polled from a queue with timestamps.
     *
     * @param index of the record, from 0
     * @return ticks of the device's clock, see {@link DeviceClock}; undefined if the record is of another queue
     * @throws IndexOutOfBoundsException if there is no such record
     * @throws IllegalStateException     if these records have no places for timestamps: they are not from {@link #allocate}
     */
    public long timestamp(final int index) {
        Objects.checkIndex(index, capacity);
        if (timestamps == null) {
            throw new IllegalStateException("these records have no timestamps; WorkCompletions.allocate creates some that have");
        }
        return timestamps.getLong(index * Long.BYTES);
    }

    /** The address of the first timestamp; 0 if there are none. */
    long timestampsAddress() {
        return timestamps == null ? 0 : timestamps.addressOffset();
    }

    /** The address of the first record. */
    long address() {
        return address;
    }

    /**
     * The address of some of the records.
     *
     * @param first index of the first one
     * @param count their number
     * @return 8-byte aligned
     * @throws IndexOutOfBoundsException if they are not all within the array
     * @throws IllegalStateException     if their buffer shows other memory now, or none, as that of a pipeline that has ended
     */
    public long address(final int first, final int count) {
        Bounds.checkRange(first, count, capacity);
        if (memory.addressOffset() + offset != address) {
            throw new IllegalStateException("the buffer of these records shows other memory now, or none: its owner has ended");
        }
        return address + (long) first * IbvWc.SIZE_BYTES;
    }
}
