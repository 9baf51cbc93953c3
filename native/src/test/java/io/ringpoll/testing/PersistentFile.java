package io.ringpoll.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A mapped file as a substitute for persistent memory. It is in shared memory if possible, because kernels do not let a device
 * write to a file with dirty tracking.
 */
public final class PersistentFile implements AutoCloseable {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    private final Path path;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    /** Creates a file and maps it. */
    public PersistentFile(final long lengthBytes) {
        try {
            path = Files.isWritable(SHARED_MEMORY) ? Files.createTempFile(SHARED_MEMORY, "ringpoll", ".pmem") :
                Files.createTempFile("ringpoll", ".pmem");
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The mapped memory, zeroed at first. */
    public MemorySegment memory() {
        return memory;
    }

    /** Flushes the written bytes to the file, like pmem_persist(3). */
    public void persist() {
        memory.force();
    }

    /** The text at the beginning of the file, read from the file and not from the memory. */
    public String textInFile() {
        try {
            final byte[] content = Files.readAllBytes(path);
            int length = 0;
            while (content[length] != 0) {
                length++;
            }
            return new String(content, 0, length, StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        arena.close();
        try {
            Files.delete(path);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
