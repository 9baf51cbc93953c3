package io.ringpoll.internal.poller;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A descriptor that a test makes readable, in place of a completion channel. */
final class Fifo implements AutoCloseable {
    private final RandomAccessFile file;
    private final int fd;
    private int events;

    Fifo(final Path folder) throws IOException, InterruptedException {
        final Path path = folder.toRealPath().resolve("fifo");
        if (new ProcessBuilder("mkfifo", path.toString()).inheritIO().start().waitFor() != 0) {
            throw new IOException("mkfifo " + path);
        }
        // Opened in both directions, so that neither end waits for the other.
        file = new RandomAccessFile(path.toFile(), "rw");
        fd = descriptorOf(path);
    }

    int fd() {
        return fd;
    }

    /** Raises an event; any thread. */
    synchronized void raise() {
        try {
            file.write(1);
            events++;
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Reads all events; any thread. */
    synchronized int take() {
        final int taken = events;
        try {
            for (; events > 0; events--) {
                file.read();
            }
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return taken;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private static int descriptorOf(final Path path) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(descriptor -> isLinkTo(descriptor, path))
                .mapToInt(descriptor -> Integer.parseInt(descriptor.getFileName().toString())).findAny().orElseThrow();
        }
    }

    private static boolean isLinkTo(final Path descriptor, final Path path) {
        try {
            return Files.readSymbolicLink(descriptor).equals(path);
        } catch (final IOException closed) {
            return false;
        }
    }
}
