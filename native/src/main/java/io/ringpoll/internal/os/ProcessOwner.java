package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * The user that this process runs as, by number. A number always exists; a name need not: a container may run as a user that
 * {@code /etc/passwd} does not list, and {@code user.name} is {@code "?"} then.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/geteuid.2.html">geteuid(2)</a>
 */
public final class ProcessOwner {
    private ProcessOwner() {
    }

    /**
     * The effective user of this process.
     *
     * @return its uid
     */
    public static long uid() {
        return Integer.toUnsignedLong(POSIX.geteuid());
    }

    /**
     * The owner of a file or folder; of a symbolic link itself, not of its target.
     *
     * @param file the file
     * @return its uid
     * @throws IOException if it does not exist or cannot be read
     */
    public static long uidOf(final Path file) throws IOException {
        return Integer.toUnsignedLong((Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    }
}
