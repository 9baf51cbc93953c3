package io.ringpoll.internal.counters;

import io.ringpoll.internal.os.ProcessOwner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of a user's counters files, and their names.
 *
 * <p>The folder belongs to the user and has no access rights for others: counters and stack traces stay private, and other users
 * cannot place files in it.
 */
public final class CountersFolder {
    private static final String SUFFIX = ".counters";
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    /** Empty if unknown. */
    private static final String PID_NAMESPACE = pidNamespace();
    /** By process, and its pipelines in the order of their starts. */
    private static final Comparator<Path> BY_START = Comparator.comparingLong(CountersFolder::pid)
        .thenComparingLong(CountersFolder::number).thenComparing(Comparator.naturalOrder());

    private CountersFolder() {
    }

    /**
     * The default folder.
     *
     * @return {@code ringpoll-UID} in {@code /dev/shm}, or in the folder for temporary files if there is no shared memory
     */
    public static Path defaultFolder() {
        final Path parent =
            Files.isWritable(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
        return parent.resolve("ringpoll-" + ProcessOwner.uid());
    }

    /**
     * Lists the counters files in a folder.
     *
     * @param folder that need not exist
     * @return files of running and of ended processes, sorted by process id, then in the order in which they were created
     * @throws UncheckedIOException if the folder cannot be read
     */
    public static List<Path> files(final Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().endsWith(SUFFIX)).sorted(BY_START).toList();
        } catch (final IOException unreadable) {
            throw new UncheckedIOException(folder + " cannot be read: " + unreadable.getMessage(), unreadable);
        }
    }

    /**
     * The process id in the name of a counters file.
     *
     * @param file as {@link #files} lists it
     * @return the process id; -1 if the name contains none
     */
    public static long pid(final Path file) {
        return part(file, 0);
    }

    /** The number of a file among those of its process; -1 if the name contains none. */
    private static long number(final Path file) {
        return part(file, 1);
    }

    private static long part(final Path file, final int index) {
        final String[] parts = file.getFileName().toString().replace(SUFFIX, "").split("-", -1);
        try {
            return parts.length < 2 ? -1 : Long.parseLong(parts[index]);
        } catch (final NumberFormatException notOurs) {
            return -1;
        }
    }

    /** The name of a new file: process id, number, and the namespace in which the process id is valid. */
    static Path newFile(final Path folder, final long pid, final int number) {
        return folder.resolve(pid + "-" + number + PID_NAMESPACE + SUFFIX);
    }

    /** Whether the process id of a file can be looked up here: containers that share the folder have process ids of their own. */
    private static boolean hasPidOfThisNamespace(final Path file) {
        final String name = file.getFileName().toString();
        return name.indexOf('-') == name.lastIndexOf('-') || name.endsWith(PID_NAMESPACE + SUFFIX);
    }

    private static String pidNamespace() {
        try {
            return "-" + Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString().replaceAll("\\D", "");
        } catch (final IOException | UnsupportedOperationException unknown) {
            return "";
        }
    }

    /** Creates the folder with access for this user only, if missing. */
    static void create(final Path folder) throws IOException {
        try {
            Files.createDirectory(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (final FileAlreadyExistsException present) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException("it is not a directory");
            }
        }
        final long owner = ProcessOwner.uidOf(folder);
        if (owner != ProcessOwner.uid()) {
            throw new IOException("it belongs to user " + owner);
        }
    }

    /** The reason of a failure in words: the message of some exceptions is only the path. */
    static String reason(final IOException failure) {
        if (failure instanceof NoSuchFileException) {
            return failure.getMessage() + ": no such file or directory";
        }
        return failure instanceof AccessDeniedException ? failure.getMessage() + ": permission denied" : failure.getMessage();
    }

    /** Removes the files of processes that have ended; in a folder shared with containers, those of this container. */
    static void removeStale(final Path folder) {
        for (final Path file : files(folder)) {
            final long pid = pid(file);
            if (pid > 0 && hasPidOfThisNamespace(file) && ProcessHandle.of(pid).isEmpty()) {
                try {
                    Files.deleteIfExists(file);
                } catch (final IOException gone) {
                    // Another process may have removed it; a remaining file is harmless.
                }
            }
        }
    }
}
