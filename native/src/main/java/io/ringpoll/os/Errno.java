package io.ringpoll.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.JvmFlags;
import io.ringpoll.internal.ffm.Memory;

/**
 * Values of errno(3) that this project distinguishes, and the names of all.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/errno.3.html">errno(3)</a>
 */
public final class Errno {
    /** Operation not permitted. */
    public static final int EPERM = 1;
    /** A signal interrupted the call. */
    public static final int EINTR = 4;
    /** Nothing to be had without waiting. */
    public static final int EAGAIN = 11;
    /** No memory, or a queue without room. */
    public static final int ENOMEM = 12;
    /** Bad address. */
    public static final int EFAULT = 14;
    /** Device or resource busy. */
    public static final int EBUSY = 16;
    /** No such device. */
    public static final int ENODEV = 19;
    /** Invalid argument. */
    public static final int EINVAL = 22;
    /** The system has no more file descriptors. */
    public static final int ENFILE = 23;
    /** The process has no more file descriptors. */
    public static final int EMFILE = 24;
    /** The kernel does not have the call. */
    public static final int ENOSYS = 38;
    /** The device, or its provider, does not offer that. */
    public static final int EOPNOTSUPP = 95;
    /** An address or port is taken. */
    public static final int EADDRINUSE = 98;
    /** The time is over. */
    public static final int ETIMEDOUT = 110;
    /** No data. */
    public static final int ENODATA = 61;

    private Errno() {
    }

    /**
     * The symbol of an error.
     *
     * @param errno a value of errno(3)
     * @return for instance {@code "ENOMEM"}; {@code "errno 999"} for a value that the C library does not know
     * @throws IllegalStateException if the JVM lacks a flag; the message names it
     */
    public static String name(final int errno) {
        JvmFlags.require(IllegalStateException::new);
        final long name = POSIX.strerrorname_np(errno);
        return name == 0 ? "errno " + errno : Memory.stringAt(name);
    }

    /**
     * Symbol and meaning of an error, and the limit that was reached if it is one of descriptors.
     *
     * @param errno a value of errno(3)
     * @return for instance {@code "ENOMEM (12): Cannot allocate memory"}
     */
    public static String describe(final int errno) {
        final String limit = switch (errno) {
            case EMFILE -> "; raise the process's limit: 'ulimit -n'";
            case ENFILE -> "; raise the system's limit: 'sysctl fs.file-max'";
            default -> "";
        };
        return name(errno) + " (" + errno + "): " + Memory.stringAt(POSIX.strerror(errno)) + limit;
    }
}
