package io.ringpoll.internal.os;

import io.ringpoll.internal.ffm.MemoryHold;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/**
 * The memory of a memory region, and how it is given back when the device does not use it any more. Immutable.
 *
 * @param memory native memory
 * @param free   to be called once: frees owned memory, or lets the user's arena be closed
 */
public record RegionMemory(MemorySegment memory, Runnable free) {
    /** A multiple of every base page size of Linux. */
    private static final long PAGE_BYTES = 4096;

    /**
     * Retains memory of somebody else.
     *
     * @param memory   native memory, of a shared or automatic arena, a direct buffer or a mapped file
     * @param readable whether the region is only read, so that read-only memory will do
     * @return the memory
     * @throws IllegalArgumentException if the memory is on the heap or empty, or it must not be written but is to be; if its
     *     arena is closed, or confined to one thread
     */
    public static RegionMemory retain(final MemorySegment memory, final boolean readable) {
        if (!memory.isNative() || memory.isReadOnly() && !readable || memory.byteSize() == 0) {
            throw new IllegalArgumentException(
                "a memory region needs native, writable memory of at least one byte, not " + memory);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalArgumentException("a memory region needs memory that is still there, and its arena is closed");
        }
        return new RegionMemory(memory, MemoryHold.of(memory)::release);
    }

    /**
     * Allocates whole, zeroed pages.
     *
     * @param lengthBytes length, at least 1
     * @return the memory
     * @throws IllegalArgumentException if there are no bytes, or more than the memory of the machine or of the process's control
     *     group
     */
    public static RegionMemory allocate(final long lengthBytes) {
        requireSize(lengthBytes);
        return allocate(OwnedMemory.newArena(), arena -> arena.allocate(lengthBytes, PAGE_BYTES));
    }

    /**
     * Allocates zeroed huge pages.
     *
     * @param lengthBytes length, at least 1
     * @return the memory
     * @throws IllegalArgumentException       as for {@link #allocate(long)}
     * @throws io.ringpoll.os.OsException     if too few huge pages are reserved
     */
    public static RegionMemory allocateHugePages(final long lengthBytes) {
        requireSize(lengthBytes);
        return allocate(Arena.ofShared(), arena -> HugePages.allocate(lengthBytes, arena));
    }

    private static RegionMemory allocate(final Arena arena, final Function<Arena, MemorySegment> allocation) {
        try {
            return new RegionMemory(allocation.apply(arena), arena::close);
        } catch (final RuntimeException | Error failure) {
            arena.close();
            throw failure;
        }
    }

    private static void requireSize(final long lengthBytes) {
        if (lengthBytes < 1) {
            throw new IllegalArgumentException("a memory region of " + lengthBytes + " bytes: at least 1 is needed");
        }
        MachineMemory.requirePinnable(lengthBytes);
    }

    /**
     * A name for a region of this memory.
     *
     * @return with its length and address
     */
    public String name() {
        return "memory region of " + memory.byteSize() + " bytes at 0x" + Long.toHexString(memory.address());
    }
}
