package io.ringpoll.verify.torture.processes;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The counts of a peer's process in a mapped file, which the survivor reads after the peer's end. Each connection has a cache
 * line of the file. One thread writes each count; any thread or process reads it.
 */
final class Journal {
    private static final int LINE_BYTES = 64;
    private static final int SENT = 0;
    private static final int RECEIVED = 8;
    private static final int ACKNOWLEDGED = 16;

    private final UnsafeBuffer words;

    private Journal(final MappedByteBuffer mapped) {
        words = new UnsafeBuffer(mapped.order(ByteOrder.nativeOrder()));
    }

    /** Maps the file, which is created if it is missing. */
    static Journal open(final Path file, final int connections) throws IOException {
        try (FileChannel channel = FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Journal(channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) connections * LINE_BYTES));
        }
    }

    void sent(final int connection, final long count) {
        words.putLongRelease(connection * LINE_BYTES + SENT, count);
    }

    void received(final int connection, final long count) {
        words.putLongRelease(connection * LINE_BYTES + RECEIVED, count);
    }

    void acknowledged(final int connection, final long count) {
        words.putLongRelease(connection * LINE_BYTES + ACKNOWLEDGED, count);
    }

    long sent(final int connection) {
        return words.getLongAcquire(connection * LINE_BYTES + SENT);
    }

    long received(final int connection) {
        return words.getLongAcquire(connection * LINE_BYTES + RECEIVED);
    }

    long acknowledged(final int connection) {
        return words.getLongAcquire(connection * LINE_BYTES + ACKNOWLEDGED);
    }
}
