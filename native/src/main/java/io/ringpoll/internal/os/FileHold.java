package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Holds a file until it is closed or the process ends, however it ends. Any process that can open the file can test this, also
 * in another PID namespace, where the number of the holding process means nothing.
 *
 * <p>It is a lock of an open file description: the process's other descriptors of the file, and their closes, do not affect it.
 * {@link java.nio.channels.FileLock} is a lock of the process, which any close of the file would release.
 *
 * <p>Thread-safe. {@link #close()} is to be called once.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/F_OFD_SETLK.2const.html">F_OFD_SETLK(2const)</a>
 */
public final class FileHold implements AutoCloseable {
    private static final int O_RDONLY = 0;
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;
    private static final int F_OFD_GETLK = 36;
    private static final int F_OFD_SETLK = 37;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;
    private static final int ENOENT = 2;

    /**
     * Size of the struct.
     * <pre>
     * struct flock {
     *     short l_type;     0
     *     short l_whence;   2
     *     off_t l_start;    8
     *     off_t l_len;     16  0: the whole file
     *     pid_t l_pid;     24
     * };
     * </pre>
     */
    private static final int FLOCK_BYTES = 32;

    private final int fd;

    private FileHold(final int fd) {
        this.fd = fd;
    }

    /**
     * Holds a file.
     *
     * @param file that exists
     * @return to be closed
     * @throws IOException if it does not exist, cannot be written, is held, or is in a file system without locks
     */
    public static FileHold take(final Path file) throws IOException {
        final int fd = open(file, O_RDWR);
        try (Arena arena = Arena.ofConfined()) {
            if (POSIX.fcntl(fd, F_OFD_SETLK, lock(arena).address()) < 0) {
                final int errno = CallState.current().errno();
                POSIX.close(fd);
                throw new IOException(file + " cannot be locked: " + Errno.describe(errno));
            }
        }
        return new FileHold(fd);
    }

    /**
     * Whether a process holds a file, this one included.
     *
     * @param file that exists
     * @return a snapshot
     * @throws IOException if it does not exist, cannot be read, or is in a file system without locks
     */
    public static boolean isHeld(final Path file) throws IOException {
        final int fd = open(file, O_RDONLY);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment lock = lock(arena);
            if (POSIX.fcntl(fd, F_OFD_GETLK, lock.address()) < 0) {
                throw new IOException("its lock cannot be tested: " + Errno.describe(CallState.current().errno()));
            }
            return lock.get(ValueLayout.JAVA_SHORT, 0) != F_UNLCK;
        } finally {
            POSIX.close(fd);
        }
    }

    /** Ends the hold. */
    @Override
    public void close() {
        POSIX.close(fd);
    }

    private static int open(final Path file, final int access) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            final int fd = POSIX.open(arena.allocateFrom(file.toString()).address(), access | O_CLOEXEC);
            if (fd < 0) {
                final int errno = CallState.current().errno();
                throw errno == ENOENT ? new NoSuchFileException(file.toString()) : new IOException(Errno.describe(errno));
            }
            return fd;
        }
    }

    /** The {@code struct flock} of an exclusive lock of a whole file. */
    private static MemorySegment lock(final Arena arena) {
        final MemorySegment lock = arena.allocate(FLOCK_BYTES, Long.BYTES);
        lock.set(ValueLayout.JAVA_SHORT, 0, F_WRLCK);
        return lock;
    }
}
