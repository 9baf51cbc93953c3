package io.ringpoll.os;

import static io.ringpoll.os.FfmPosixFunctions.POSIX;

import io.ringpoll.ffm.CallState;
import java.lang.foreign.MemorySegment;

/**
 * Keeps memory from being paged out. Any thread may call this; locks belong to the process.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/mlock.2.html">mlock(2)</a>
 */
public final class MemoryLock {
    private static final int MCL_CURRENT = 1;
    private static final int MCL_FUTURE = 2;

    private MemoryLock() {
    }

    /**
     * Locks a piece of memory, with the pages it lies on.
     *
     * @param memory native memory
     * @throws OsException if the kernel refuses: most often {@code RLIMIT_MEMLOCK} ({@code ulimit -l}) is too low
     */
    public static void lock(final MemorySegment memory) {
        if (POSIX.mlock(memory.address(), memory.byteSize()) != 0) {
            throw refused("mlock", memory.byteSize() + " bytes");
        }
    }

    /**
     * Unlocks a piece of memory, with the pages it lies on.
     *
     * @param memory native memory
     * @throws OsException if it is not mapped
     */
    public static void unlock(final MemorySegment memory) {
        if (POSIX.munlock(memory.address(), memory.byteSize()) != 0) {
            throw OsException.of("munlock");
        }
    }

    /**
     * Locks all memory that the process has now and, by choice, all that it will get.
     *
     * @param future whether memory that is mapped later is locked too
     * @throws OsException if the kernel refuses: most often {@code RLIMIT_MEMLOCK} ({@code ulimit -l}) is too low
     */
    public static void lockAll(final boolean future) {
        if (POSIX.mlockall(future ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) != 0) {
            throw refused("mlockall", "the process's memory");
        }
    }

    /**
     * Unlocks all memory of the process.
     *
     * @throws OsException if the kernel refuses
     */
    public static void unlockAll() {
        if (POSIX.munlockall() != 0) {
            throw OsException.of("munlockall");
        }
    }

    private static OsException refused(final String function, final String what) {
        final int errno = CallState.current().errno();
        return new OsException(function, errno, "cannot lock " + what + ": " + Errno.describe(errno) +
            "; raise the limit with `ulimit -l`");
    }
}
