package io.ringpoll.pipeline.counters;

import io.ringpoll.os.ProcessOwner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the counters files of a user's processes lie, and how they are named.
 *
 * <p>The folder is the user's own and closed to others: the counters and stack traces of a process are nobody else's business,
 * and nobody else can put a file in its way.
 */
public final class CountersFolder {
    private static final String SUFFIX = ".counters";
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private CountersFolder() {
    }

    /**
     * The folder used where none is named.
     *
     * @return {@code ringpoll-UID} in {@code /dev/shm}, or in the folder for temporary files if there is no shared memory
     */
    public static Path defaultFolder() {
        final Path parent =
            Files.isWritable(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        return parent.resolve("ringpoll-" + ProcessOwner.uid());
    }

    /**
     * The counters files in a folder.
     *
     * @param folder that need not exist
     * @return of running and of dead processes, in the order of their names
     * @throws UncheckedIOException if the folder cannot be read
     */
    public static List<Path> files(final Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().endsWith(SUFFIX)).sorted().toList();
        } catch (final IOException unreadable) {
            throw new UncheckedIOException(folder + " cannot be read: " + unreadable.getMessage(), unreadable);
        }
    }

    /**
     * The process that a counters file belongs to, by its name.
     *
     * @param file as {@link #files} lists it
     * @return the process id; -1 if the name holds none
     */
    public static long pid(final Path file) {
        final String name = file.getFileName().toString();
        final int end = name.indexOf('-');
        try {
            return end < 0 ? -1 : Long.parseLong(name.substring(0, end));
        } catch (final NumberFormatException notOurs) {
            return -1;
        }
    }

    /** The name of a new file. */
    static Path newFile(final Path folder, final long pid, final int number) {
        return folder.resolve(pid + "-" + number + SUFFIX);
    }

    /** Makes the folder, for this user alone, if it is not there. */
    static void create(final Path folder) throws IOException {
        try {
            Files.createDirectory(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (final FileAlreadyExistsException present) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException("it is not a folder");
            }
        }
        final long owner = ProcessOwner.uidOf(folder);
        if (owner != ProcessOwner.uid()) {
            throw new IOException("it belongs to user " + owner);
        }
    }

    /** Removes the files that processes have left behind when they died. */
    static void removeStale(final Path folder) {
        for (final Path file : files(folder)) {
            final long pid = pid(file);
            if (pid > 0 && ProcessHandle.of(pid).isEmpty()) {
                try {
                    Files.deleteIfExists(file);
                } catch (final IOException gone) {
                    // Another process may have been quicker; what stays does no harm.
                }
            }
        }
    }
}
