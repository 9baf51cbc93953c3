package io.ringpoll.internal.counters;

import io.ringpoll.counters.Counters;
import io.ringpoll.internal.os.FileHold;
import io.ringpoll.internal.poller.CounterType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.DistinctErrorLog;
import org.agrona.concurrent.status.CountersReader;

/**
 * A copy of a counters file at one moment, independent of the process that writes the file.
 *
 * <p>Immutable. A corrupt file is rejected with one line that states the reason.
 *
 * @param pid      of the writing process, in that process's PID namespace
 * @param startMs  start of the pipeline, in milliseconds since the epoch
 * @param name     of the pipeline
 * @param isAlive  whether the pipeline was running just after the copy, in whichever PID namespace
 * @param takenNs  time of the copy, on the clock of {@link System#nanoTime()}
 * @param counters all allocated counters
 * @param errors   the distinct errors
 */
public record CountersSnapshot(
    long pid, long startMs, String name, boolean isAlive, long takenNs, List<RecordedCounter> counters,
    List<RecordedError> errors) {
    private static final int MAX_FILE_LENGTH = 64 * 1024 * 1024;

    /**
     * One counter.
     *
     * @param type      null if this release does not know the type id
     * @param typeId    as in the file
     * @param owner     name of the poller, handler or queue
     * @param parameter a status or batch size; 0 if the type has none
     * @param label     for display
     * @param value     at the moment of the copy
     */
    public record RecordedCounter(CounterType type, int typeId, String owner, int parameter, String label, long value) {
    }

    /**
     * One distinct error.
     *
     * @param count   number of occurrences
     * @param firstMs first occurrence, in milliseconds since the epoch
     * @param lastMs  last occurrence, in milliseconds since the epoch
     * @param text    the exception and its stack trace
     */
    public record RecordedError(int count, long firstMs, long lastMs, String text) {
    }

    /**
     * Reads a file.
     *
     * @param file as {@link CountersFolder#files} lists it
     * @return the snapshot
     * @throws CountersFileException if the file does not exist, is not a ringpoll counters file, or is corrupt; the message
     *     states which
     */
    public static CountersSnapshot read(final Path file) {
        final UnsafeBuffer buffer = copyOf(file);
        final long takenNs = System.nanoTime();
        check(file, buffer.capacity() >= CountersFileLayout.METADATA_OFFSET, "it is too short for a header");
        check(file, buffer.getLong(CountersFileLayout.MAGIC_OFFSET) == CountersFileLayout.MAGIC,
            "it is not a ringpoll counters file");
        final int version = buffer.getInt(CountersFileLayout.VERSION_OFFSET);
        check(file, version == CountersFileLayout.VERSION,
            "its version is " + version + ", and this release reads version " + CountersFileLayout.VERSION);
        final long metadataLength = buffer.getInt(CountersFileLayout.METADATA_LENGTH_OFFSET);
        final long valuesLength = buffer.getInt(CountersFileLayout.VALUES_LENGTH_OFFSET);
        final long errorLogLength = buffer.getInt(CountersFileLayout.ERROR_LOG_LENGTH_OFFSET);
        final long end = CountersFileLayout.METADATA_OFFSET + metadataLength + valuesLength + errorLogLength;
        check(file, metadataLength > 0 && valuesLength > 0 && errorLogLength > 0 && end <= buffer.capacity() &&
            metadataLength % CountersReader.METADATA_LENGTH == 0 && valuesLength % CountersReader.COUNTER_LENGTH == 0 &&
            metadataLength / CountersReader.METADATA_LENGTH == valuesLength / CountersReader.COUNTER_LENGTH,
            "its header is corrupt");
        // A file with a header is held until its pipeline has ended.
        final boolean isAlive = isAlive(file);
        try {
            final UnsafeBuffer metadata =
                new UnsafeBuffer(buffer, CountersFileLayout.METADATA_OFFSET, (int) metadataLength);
            final UnsafeBuffer values = new UnsafeBuffer(
                buffer, CountersFileLayout.METADATA_OFFSET + (int) metadataLength, (int) valuesLength);
            final UnsafeBuffer errorLog = new UnsafeBuffer(
                buffer, CountersFileLayout.METADATA_OFFSET + (int) (metadataLength + valuesLength), (int) errorLogLength);
            return new CountersSnapshot(
                buffer.getLong(CountersFileLayout.PID_OFFSET), buffer.getLong(CountersFileLayout.START_OFFSET), name(buffer),
                isAlive, takenNs, counters(metadata, values), errors(errorLog));
        } catch (final RuntimeException damaged) {
            throw new CountersFileException(file + " cannot be read: its content is corrupt", damaged);
        }
    }

    /**
     * The value of the counter of a type and owner.
     *
     * @param type  of the counter
     * @param owner name of the poller, handler or queue
     * @return 0 if there is none
     */
    public long value(final CounterType type, final String owner) {
        for (final RecordedCounter counter : counters) {
            if (counter.type == type && counter.owner.equals(owner)) {
                return counter.value;
            }
        }
        return 0;
    }

    private static UnsafeBuffer copyOf(final Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            final long length = channel.size();
            check(file, length <= MAX_FILE_LENGTH, "it is longer than any counters file");
            final ByteBuffer copy = ByteBuffer.allocateDirect((int) length + BitUtil.CACHE_LINE_LENGTH);
            copy.limit((int) length);
            while (copy.hasRemaining() && channel.read(copy, copy.position()) > 0) {
                // A concurrent truncation of the file ends the copy.
            }
            return new UnsafeBuffer(copy, 0, copy.position());
        } catch (final IOException unreadable) {
            throw unreadable(file, unreadable);
        }
    }

    private static boolean isAlive(final Path file) {
        try {
            return FileHold.isHeld(file);
        } catch (final IOException unreadable) {
            throw unreadable(file, unreadable);
        }
    }

    private static CountersFileException unreadable(final Path file, final IOException cause) {
        return new CountersFileException(cause instanceof NoSuchFileException ?
            file + " does not exist: the process has ended, or runs no pipeline" :
            file + " cannot be read: " + cause.getMessage(), cause);
    }

    /**
     * The same counters for display and export, with the derived ones.
     *
     * @return with the process id as an attribute
     */
    public Counters toCounters() {
        return new CounterNames(name, Long.toString(pid)).of(takenNs, counters);
    }

    private static String name(final UnsafeBuffer buffer) {
        final int length = buffer.getInt(CountersFileLayout.NAME_OFFSET);
        return length < 0 || length > CountersFileLayout.MAX_NAME_LENGTH ? "?" :
            buffer.getStringUtf8(CountersFileLayout.NAME_OFFSET);
    }

    /** Parses the metadata without Agrona's reader, because lengths in a corrupt file must be checked before use. */
    static List<RecordedCounter> counters(final AtomicBuffer metadata, final AtomicBuffer values) {
        final List<RecordedCounter> counters = new ArrayList<>();
        final int last = values.capacity() / CountersReader.COUNTER_LENGTH;
        for (int id = 0; id < last; id++) {
            final int record = CountersReader.metaDataOffset(id);
            final int state = metadata.getIntVolatile(record);
            if (state == CountersReader.RECORD_UNUSED) {
                break;
            }
            if (state == CountersReader.RECORD_ALLOCATED) {
                final int typeId = metadata.getInt(record + CountersReader.TYPE_ID_OFFSET);
                final UnsafeBuffer key =
                    new UnsafeBuffer(metadata, record + CountersReader.KEY_OFFSET, CountersReader.MAX_KEY_LENGTH);
                counters.add(new RecordedCounter(
                    CounterType.ofId(typeId), typeId, CounterType.owner(key), CounterType.parameter(key),
                    text(metadata, record + CountersReader.LABEL_OFFSET, CountersReader.MAX_LABEL_LENGTH),
                    values.getLongVolatile(CountersReader.counterOffset(id))));
            }
        }
        return List.copyOf(counters);
    }

    private static String text(final DirectBuffer buffer, final int offset, final int maxLength) {
        final int length = buffer.getInt(offset);
        if (length < 0 || length > maxLength) {
            throw new IllegalArgumentException("a text of " + length + " bytes");
        }
        return buffer.getStringUtf8(offset);
    }

    private static List<RecordedError> errors(final UnsafeBuffer log) {
        final List<RecordedError> errors = new ArrayList<>();
        int offset = 0;
        while (offset < log.capacity() - DistinctErrorLog.ENCODED_ERROR_OFFSET) {
            final int length = log.getInt(offset + DistinctErrorLog.LENGTH_OFFSET);
            if (length == 0) {
                break;
            }
            if (length < DistinctErrorLog.ENCODED_ERROR_OFFSET || length > log.capacity() - offset) {
                throw new IllegalArgumentException("an error of " + length + " bytes");
            }
            errors.add(new RecordedError(
                log.getInt(offset + DistinctErrorLog.OBSERVATION_COUNT_OFFSET),
                log.getLong(offset + DistinctErrorLog.FIRST_OBSERVATION_TIMESTAMP_OFFSET),
                log.getLong(offset + DistinctErrorLog.LAST_OBSERVATION_TIMESTAMP_OFFSET),
                log.getStringWithoutLengthUtf8(
                    offset + DistinctErrorLog.ENCODED_ERROR_OFFSET, length - DistinctErrorLog.ENCODED_ERROR_OFFSET)));
            offset += BitUtil.align(length, DistinctErrorLog.RECORD_ALIGNMENT);
        }
        return List.copyOf(errors);
    }

    private static void check(final Path file, final boolean holds, final String complaint) {
        if (!holds) {
            throw new CountersFileException(file + " cannot be read: " + complaint, null);
        }
    }
}
