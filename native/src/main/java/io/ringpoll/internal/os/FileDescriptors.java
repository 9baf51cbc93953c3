package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.OsException;

/**
 * Operations on file descriptors that C code owns.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/fcntl.2.html">fcntl(2)</a>
 */
public final class FileDescriptors {
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;

    private FileDescriptors() {
    }

    /**
     * Creates a descriptor non-blocking.
     *
     * @param fd the descriptor
     * @throws OsException if it is none
     */
    public static void setNonBlocking(final int fd) {
        setNonBlocking(fd, true);
    }

    /**
     * Sets whether a descriptor is non-blocking.
     *
     * @param fd          the descriptor
     * @param nonBlocking false makes them wait again
     * @throws OsException if it is none
     */
    public static void setNonBlocking(final int fd, final boolean nonBlocking) {
        final int flags = POSIX.fcntl(fd, F_GETFL, 0);
        if (flags < 0 || POSIX.fcntl(fd, F_SETFL, nonBlocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) < 0) {
            throw new OsException("fcntl(" + fd + ")", CallState.current().errno());
        }
    }
}
