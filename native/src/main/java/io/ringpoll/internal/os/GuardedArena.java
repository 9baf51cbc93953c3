package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An arena that makes its memory inaccessible for good once it is closed: its addresses are never reused.
 *
 * <pre>
 *   open:    | readable, writable pages of the allocation | guard page |
 *   closed:  | guard pages                                             |
 * </pre>
 *
 * <p>The guard page behind an allocation also detects an overrun of its last page. Any thread may use and close it.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/mmap.2.html">mmap(2)</a>
 */
final class GuardedArena implements Arena {
    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_NORESERVE = 0x4000;
    private static final long MAP_FAILED = -1;
    private static final long PAGE_BYTES = 4096;
    private static final AtomicLong LIVE_BYTES = new AtomicLong();

    private final Arena owner = Arena.ofShared();

    /** Bytes of all pages that can be written at the moment. */
    static long liveBytes() {
        return LIVE_BYTES.get();
    }

    @Override
    @SuppressWarnings("restricted")
    public MemorySegment allocate(final long byteSize, final long byteAlignment) {
        if (byteSize < 0 || byteAlignment > PAGE_BYTES) {
            throw new IllegalArgumentException(byteSize + " bytes aligned to " + byteAlignment);
        }
        final long lengthBytes = Math.max(PAGE_BYTES, byteSize + PAGE_BYTES - 1 & -PAGE_BYTES);
        final long address = map(0, lengthBytes + PAGE_BYTES, PROT_NONE, MAP_NORESERVE);
        map(address, lengthBytes, PROT_READ_WRITE, MAP_FIXED);
        LIVE_BYTES.addAndGet(lengthBytes);
        return MemorySegment.ofAddress(address).reinterpret(byteSize, owner, freed -> {
            // A new mapping in the place of the old one, which releases the pages and reserves the addresses.
            map(address, lengthBytes, PROT_NONE, MAP_FIXED | MAP_NORESERVE);
            LIVE_BYTES.addAndGet(-lengthBytes);
        });
    }

    @Override
    public MemorySegment.Scope scope() {
        return owner.scope();
    }

    @Override
    public void close() {
        owner.close();
    }

    private static long map(final long address, final long lengthBytes, final int protection, final int flags) {
        final long mapped = POSIX.mmap(address, lengthBytes, protection, MAP_PRIVATE_ANONYMOUS | flags, -1, 0);
        if (mapped == MAP_FAILED) {
            throw new OsException("mmap of " + lengthBytes + " bytes", CallState.current().errno());
        }
        return mapped;
    }
}
