package io.ringpoll.internal.os;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A folder that is removed when it is closed, and also at the end of the JVM, for instance by Ctrl-C. Thread-safe. */
public final class TemporaryFolder implements AutoCloseable {
    /** At the end of the JVM, threads that still run may write files. */
    private static final int ATTEMPTS = 20;
    private static final long PAUSE_NS = 20_000_000;

    private final Path path;
    private final Thread atShutdown;

    private TemporaryFolder(final Path path, final Runnable beforeShutdown) {
        this.path = path;
        atShutdown = new Thread(() -> {
            beforeShutdown.run();
            deleteAtShutdown();
        }, "ringpoll-temporary-folder");
    }

    /**
     * Creates a folder.
     *
     * @param prefix of its name
     * @return to be closed
     * @throws IOException if it cannot be created
     */
    public static TemporaryFolder create(final String prefix) throws IOException {
        return create(prefix, () -> { });
    }

    /**
     * Creates a folder that others write to.
     *
     * @param prefix         of its name
     * @param beforeShutdown ends those who write, if the JVM ends before the folder is closed
     * @return to be closed
     * @throws IOException if it cannot be created
     */
    public static TemporaryFolder create(final String prefix, final Runnable beforeShutdown) throws IOException {
        final TemporaryFolder folder = new TemporaryFolder(Files.createTempDirectory(prefix), beforeShutdown);
        try {
            Runtime.getRuntime().addShutdownHook(folder.atShutdown);
        } catch (final IllegalStateException shuttingDown) {
            folder.delete();
            throw shuttingDown;
        }
        return folder;
    }

    /**
     * Where it is.
     *
     * @return an absolute path
     */
    public Path path() {
        return path;
    }

    /** Leaves the folder to the user. */
    public void keep() {
        try {
            Runtime.getRuntime().removeShutdownHook(atShutdown);
        } catch (final IllegalStateException shuttingDown) {
            // The hook runs.
        }
    }

    /** Removes the folder with all that is in it; a second call does nothing. */
    @Override
    public void close() throws IOException {
        try {
            delete();
        } finally {
            keep();
        }
    }

    private void delete() throws IOException {
        if (Files.exists(path)) {
            try (Stream<Path> files = Files.walk(path)) {
                for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            } catch (final UncheckedIOException e) {
                throw e.getCause();
            }
        }
    }

    private void deleteAtShutdown() {
        for (int i = 0; i < ATTEMPTS && Files.exists(path); i++) {
            try {
                delete();
            } catch (final IOException stillInUse) {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }
}
