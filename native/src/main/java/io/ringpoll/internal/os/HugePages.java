package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.Errno;
import io.ringpoll.os.OsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Memory in huge pages of the system's default size. Stateless.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/mmap.2.html">mmap(2)</a>
 */
public final class HugePages {
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MAP_HUGETLB = 0x40000;
    private static final long MAP_FAILED = -1;
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final String SIZE = "Hugepagesize:";
    private static final long KIBIBYTE = 1024;
    private static final long USUAL_BYTES = 2 << 20;

    private HugePages() {
    }

    /**
     * Maps memory.
     *
     * @param lengthBytes length, at least 1; whole pages are mapped
     * @param arena       unmaps it when it is closed
     * @return zeroed memory of that length
     * @throws OsException with the errno of mmap(2)
     */
    @SuppressWarnings("restricted")
    public static MemorySegment allocate(final long lengthBytes, final Arena arena) {
        final long pageBytes = pageBytes();
        final long mappedBytes = (lengthBytes + pageBytes - 1) / pageBytes * pageBytes;
        final long address = POSIX.mmap(0, mappedBytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (address == MAP_FAILED) {
            final int errno = CallState.current().errno();
            throw new OsException("mmap of " + mappedBytes / pageBytes + " huge pages of " + pageBytes + " bytes" +
                (errno == Errno.ENOMEM ? " (are so many reserved and free? 'sysctl vm.nr_hugepages')" : ""), errno);
        }
        return MemorySegment.ofAddress(address).reinterpret(lengthBytes, arena, freed -> POSIX.munmap(address, mappedBytes));
    }

    /**
     * The default size of a huge page.
     *
     * @return bytes
     */
    public static long pageBytes() {
        try {
            for (final String line : Files.readAllLines(MEMINFO)) {
                if (line.startsWith(SIZE)) {
                    return Long.parseLong(line.substring(SIZE.length()).replace("kB", "").strip()) * KIBIBYTE;
                }
            }
        } catch (final IOException | NumberFormatException unreadable) {
            return USUAL_BYTES;
        }
        return USUAL_BYTES;
    }
}
