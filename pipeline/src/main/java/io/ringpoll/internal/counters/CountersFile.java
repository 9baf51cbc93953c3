package io.ringpoll.internal.counters;

import io.ringpoll.counters.Counters;
import io.ringpoll.internal.os.FileHold;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.internal.poller.MemoryFault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.DistinctErrorLog;
import org.agrona.concurrent.status.ConcurrentCountersManager;
import org.agrona.concurrent.status.CountersManager;

/**
 * The counters and the error log of one pipeline, in a mapped file for other processes, or in memory.
 *
 * <p>Any thread may allocate counters; each counter has one writer. {@link #close} removes the file. The mapping is released when
 * no counter is reachable any more, so that counters may be read after the close of their pipeline.
 *
 * @see CountersFileLayout
 */
public final class CountersFile implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final Path path;
    /** Shows other processes that the pipeline is running; contains null after the close, and if there is no file. */
    private final AtomicReference<FileHold> hold;
    private final CountersManager counters;
    private final DistinctErrorLog errorLog;

    /** Null unless the counters are those of a user's manager. */
    private final BorrowedCounters borrowed;

    private CountersFile(final Path path, final FileHold hold, final ByteBuffer memory, final String name) {
        this(path, hold, memory, name, null);
    }

    private CountersFile(
        final Path path, final FileHold hold, final ByteBuffer memory, final String name, final BorrowedCounters borrowed) {
        this.path = path;
        this.hold = new AtomicReference<>(hold);
        final UnsafeBuffer buffer = new UnsafeBuffer(memory);
        int offset = CountersFileLayout.METADATA_OFFSET;
        final AtomicBuffer metadata = new UnsafeBuffer(memory, offset, CountersFileLayout.METADATA_LENGTH);
        offset += CountersFileLayout.METADATA_LENGTH;
        final AtomicBuffer values = new UnsafeBuffer(memory, offset, CountersFileLayout.VALUES_LENGTH);
        offset += CountersFileLayout.VALUES_LENGTH;
        final AtomicBuffer errors = new UnsafeBuffer(memory, offset, CountersFileLayout.ERROR_LOG_LENGTH);
        counters = borrowed == null ? new ConcurrentCountersManager(metadata, values) : borrowed;
        this.borrowed = borrowed;
        errorLog = new DistinctErrorLog(errors, SystemEpochClock.INSTANCE);
        writeHeader(buffer, name);
    }

    /**
     * Creates a file.
     *
     * @param folder created if missing; null for {@link CountersFolder#defaultFolder}
     * @param name   of the pipeline
     * @return the counters, none allocated
     * @throws UncheckedIOException if the file cannot be created; the message contains the path. The interrupt flag is preserved
     */
    public static CountersFile create(final Path folder, final String name) {
        final Path place = folder == null ? CountersFolder.defaultFolder() : folder;
        boolean interrupted = false;
        try {
            CountersFolder.create(place);
            CountersFolder.removeStale(place);
            while (true) {
                // An interrupt closes the channel.
                interrupted |= Thread.interrupted();
                try {
                    return createAt(newPath(place), name);
                } catch (final ClosedByInterruptException again) {
                    interrupted = true;
                }
            }
        } catch (final IOException failure) {
            throw new UncheckedIOException(
                "the counters file cannot be created in " + place + ": " + CountersFolder.reason(failure), failure);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Creates counters that only this process can read.
     *
     * @param name of the pipeline
     * @return the counters, none allocated
     */
    public static CountersFile inMemory(final String name) {
        return new CountersFile(null, null, ByteBuffer.allocateDirect(CountersFileLayout.FILE_LENGTH), name);
    }

    /**
     * Creates counters in a user's manager; the error log is in the memory of this process.
     *
     * @param manager allocates the counters until {@link #free}
     * @param name    of the pipeline
     * @return the counters, none allocated
     */
    public static CountersFile in(final CountersManager manager, final String name) {
        return new CountersFile(
            null, null, ByteBuffer.allocateDirect(CountersFileLayout.FILE_LENGTH), name, new BorrowedCounters(manager));
    }

    /**
     * The path of the file.
     *
     * @return null if the counters are in memory only
     */
    public Path path() {
        return path;
    }

    /**
     * The manager that allocates the counters; any thread.
     *
     * @return always the same instance
     */
    public CountersManager counters() {
        return counters;
    }

    /**
     * Reads the counters; any thread, also after the close.
     *
     * @param name of the pipeline
     * @return a snapshot without the process id, which is the reader's own
     * @throws IllegalStateException as {@link #read}
     */
    public Counters snapshot(final String name) {
        return new CounterNames(name, null).of(System.nanoTime(), read(name, () -> borrowed != null ? borrowed.snapshot() :
            CountersSnapshot.counters(counters.metaDataBuffer(), counters.valuesBuffer())));
    }

    /**
     * Reads from the memory of the counters or of the error log; any thread.
     *
     * @param name   of the pipeline
     * @param reader of the memory, without an effect if it fails
     * @param <T>    of what is read
     * @return the reader's result
     * @throws IllegalStateException if the memory is gone, because its file has been truncated
     */
    public <T> T read(final String name, final Supplier<T> reader) {
        try {
            try {
                return reader.get();
            } finally {
                // What is read from lost memory is arbitrary, and so is an exception of the reader about it.
                MemoryFault.check();
            }
        } catch (final InternalError truncated) {
            throw new IllegalStateException(
                "the counters of pipeline " + name + " are lost: their file was truncated", truncated);
        }
    }

    /**
     * The error log, which stores each distinct exception once with a count; any thread.
     *
     * @return always the same instance
     */
    public DistinctErrorLog errorLog() {
        return errorLog;
    }

    /**
     * Returns counters of a user's manager to it; no thread writes them any more. They can still be read here. Idempotent; no
     * effect on other counters.
     *
     * @param errors receives an exception if the program has freed some of them before
     */
    public void free(final ErrorHandler errors) {
        if (borrowed != null) {
            borrowed.free(errors);
        }
    }

    /**
     * Checks that a user's manager had room for all counters that were allocated here.
     *
     * @param name of the pipeline
     * @throws IllegalStateException if it was full; the message states the missing room
     */
    public void requireAll(final String name) {
        if (borrowed != null) {
            borrowed.requireAll(name);
        }
    }

    /** Removes the file; this process can still read counters and errors. */
    @Override
    public void close() {
        if (path != null) {
            try {
                Files.deleteIfExists(path);
            } catch (final IOException remains) {
                // The next pipeline of this user removes it after the end of this process.
            }
            final FileHold last = hold.getAndSet(null);
            if (last != null) {
                last.close();
            }
        }
    }

    private static Path newPath(final Path folder) {
        Path path = CountersFolder.newFile(folder, ProcessHandle.current().pid(), NUMBER.incrementAndGet());
        while (Files.exists(path)) {
            // Left behind by an earlier process with the same id.
            path = CountersFolder.newFile(folder, ProcessHandle.current().pid(), NUMBER.incrementAndGet());
        }
        return path;
    }

    private static CountersFile createAt(final Path path, final String name) throws IOException {
        FileHold hold = null;
        try (FileChannel channel = FileChannel.open(
                path,
                EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            // Before the header: a reader that finds a version finds the hold.
            hold = FileHold.take(path);
            allocate(channel);
            return new CountersFile(
                path, hold, channel.map(FileChannel.MapMode.READ_WRITE, 0, CountersFileLayout.FILE_LENGTH), name);
        } catch (final IOException | RuntimeException | Error failure) {
            Files.deleteIfExists(path);
            if (hold != null) {
                hold.close();
            }
            throw failure;
        }
    }

    /** Writes the whole file: a later store into a hole on a full file system would be an InternalError. */
    static void allocate(final WritableByteChannel channel) throws IOException {
        final ByteBuffer zeros = ByteBuffer.allocate(CountersFileLayout.FILE_LENGTH);
        while (zeros.hasRemaining()) {
            // A write without enough space is partial; the next one fails.
            channel.write(zeros);
        }
    }

    private static void writeHeader(final UnsafeBuffer header, final String name) {
        header.putInt(CountersFileLayout.METADATA_LENGTH_OFFSET, CountersFileLayout.METADATA_LENGTH);
        header.putLong(CountersFileLayout.MAGIC_OFFSET, CountersFileLayout.MAGIC);
        header.putLong(CountersFileLayout.PID_OFFSET, ProcessHandle.current().pid());
        header.putLong(CountersFileLayout.START_OFFSET, System.currentTimeMillis());
        header.putInt(CountersFileLayout.VALUES_LENGTH_OFFSET, CountersFileLayout.VALUES_LENGTH);
        header.putInt(CountersFileLayout.ERROR_LOG_LENGTH_OFFSET, CountersFileLayout.ERROR_LOG_LENGTH);
        header.putStringUtf8(
            CountersFileLayout.NAME_OFFSET, CounterType.beginning(name, CountersFileLayout.MAX_NAME_LENGTH));
        header.putIntRelease(CountersFileLayout.VERSION_OFFSET, CountersFileLayout.VERSION);
    }
}
