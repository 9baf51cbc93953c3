package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory outside the heap that is freed by its last owner: slabs of rings, and memory regions that the binding allocates.
 *
 * <p>With {@code -Dringpoll.memory.debug=true} it is allocated on its own pages, which freeing protects for good instead of
 * releasing them: the first later access, from Java or from C, is a SIGSEGV with the stack in the JVM's report. The addresses are
 * never used again. Stateless.
 */
public final class OwnedMemory {
    /** Name of the system property that turns the debug mode on. */
    public static final String DEBUG_PROPERTY = "ringpoll.memory.debug";

    /** The value of {@code MADV_DONTNEED}. */
    private static final int MADV_DONTNEED = 4;

    /** A multiple of every base page size of Linux. */
    private static final long WHOLE_PAGES_BYTES = 1 << 16;

    private static final boolean DEBUG = Boolean.getBoolean(DEBUG_PROPERTY);

    private OwnedMemory() {
    }

    /**
     * Opens an arena that any thread may use and close.
     *
     * @return {@link Arena#ofShared()}, or in debug mode an arena that protects freed memory
     */
    public static Arena newArena() {
        return DEBUG ? new GuardedArena() : Arena.ofShared();
    }

    /**
     * Allocates memory that is freed when neither the segment nor a buffer of it is reachable any more: for memory that users
     * access through buffers without liveness checks. Unlike that of {@link Arena#ofAuto()} it is not limited by
     * {@code -XX:MaxDirectMemorySize}.
     *
     * @param lengthBytes    length
     * @param alignmentBytes a power of two
     * @return zeroed memory
     */
    @SuppressWarnings("restricted")
    public static MemorySegment allocateWhileReachable(final long lengthBytes, final long alignmentBytes) {
        final Arena owner = newArena();
        try {
            final long address = owner.allocate(lengthBytes, alignmentBytes).address();
            return MemorySegment.ofAddress(address).reinterpret(lengthBytes, Arena.ofAuto(), unreachable -> owner.close());
        } catch (final RuntimeException | Error failure) {
            owner.close();
            throw failure;
        }
    }

    /**
     * Frees memory that users may still read by its address: returns its pages now, and frees the addresses when the result is
     * not reachable any more. In debug mode all is freed at once.
     *
     * @param owner  of {@link #newArena()}, closed in the end
     * @param memory allocated by it
     * @return to be kept for as long as the memory can be read
     */
    @SuppressWarnings("restricted")
    public static MemorySegment freeWhenUnreachable(final Arena owner, final MemorySegment memory) {
        if (DEBUG) {
            owner.close();
            return MemorySegment.NULL;
        }
        releasePages(memory);
        return MemorySegment.ofAddress(memory.address())
            .reinterpret(memory.byteSize(), Arena.ofAuto(), unreachable -> owner.close());
    }

    /**
     * Returns the pages of memory to the system, except incomplete ones at its ends. The addresses remain valid; pages that are
     * accessed later are zeroed.
     *
     * @param memory allocated here, with contents that nobody needs
     * @see <a href="https://man7.org/linux/man-pages/man2/madvise.2.html">madvise(2)</a>
     */
    public static void releasePages(final MemorySegment memory) {
        final long begin = memory.address() + WHOLE_PAGES_BYTES - 1 & -WHOLE_PAGES_BYTES;
        final long end = memory.address() + memory.byteSize() & -WHOLE_PAGES_BYTES;
        if (begin < end) {
            // Advice: without it the pages are released when the memory is freed.
            POSIX.madvise(begin, end - begin, MADV_DONTNEED);
        }
    }

    /**
     * The memory that arenas of the debug mode have allocated and not freed.
     *
     * @return bytes, in whole pages; 0 without the debug mode
     */
    public static long guardedBytes() {
        return GuardedArena.liveBytes();
    }
}
