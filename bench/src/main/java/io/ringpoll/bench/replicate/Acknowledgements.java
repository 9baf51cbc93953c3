package io.ringpoll.bench.replicate;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The file of acknowledged records of a client: 16 bytes per record, its series and its number. Written entries survive if the
 * client is killed. An object is used by one thread.
 */
final class Acknowledgements implements Closeable {
    private static final int ENTRY_BYTES = 16;

    private final FileChannel channel;
    private final ByteBuffer entry = ByteBuffer.allocateDirect(ENTRY_BYTES);

    Acknowledgements(final Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    void add(final NumberedRecord acknowledged) throws IOException {
        entry.clear().putLong(acknowledged.series()).putLong(acknowledged.number()).flip();
        while (entry.hasRemaining()) {
            channel.write(entry);
        }
    }

    /** The entries of a file; a last entry that is incomplete, because the client was killed, is ignored. */
    static List<NumberedRecord> read(final Path file) throws IOException {
        final ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        final List<NumberedRecord> acknowledged = new ArrayList<>();
        while (bytes.remaining() >= ENTRY_BYTES) {
            final long series = bytes.getLong();
            acknowledged.add(new NumberedRecord(series, bytes.getLong()));
        }
        return acknowledged;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
