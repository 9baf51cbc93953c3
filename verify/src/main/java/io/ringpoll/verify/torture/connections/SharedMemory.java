package io.ringpoll.verify.torture.connections;

import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The memory of a set for one-sided operations: each side of a connection has a word that the other side writes and reads, and
 * words for its own operations.
 * <pre>
 *   0      8                        136                       264
 *   | word | sources of its writes | destinations of its reads |
 * </pre>
 * Any thread.
 */
final class SharedMemory implements AutoCloseable {
    /** Maximum number of operations of a side under way. */
    static final int MAX_OPERATIONS = 16;
    private static final int SIDES = 4096;
    private static final int SOURCES = Long.BYTES;
    private static final int DESTINATIONS = SOURCES + MAX_OPERATIONS * Long.BYTES;
    private static final int PIECE_BYTES = DESTINATIONS + MAX_OPERATIONS * Long.BYTES;

    private final LocalMemoryRegion region;
    private final RemoteMemoryRegion remote;
    private final UnsafeBuffer words;

    SharedMemory(final Peer peer) {
        region = peer.allocate((long) SIDES * PIECE_BYTES, MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE,
            MemoryUsage.WRITE_SOURCE, MemoryUsage.READ_DESTINATION);
        final MemorySegment memory = region.memory();
        memory.fill((byte) 0);
        words = new UnsafeBuffer(memory.asByteBuffer());
        remote = RemoteMemoryRegion.ofDescriptor(region.descriptor());
    }

    /** Whether a side has words; the sides of the largest scenes have them, but not all that are connected again. */
    static boolean hasWords(final long side) {
        return side < SIDES;
    }

    LocalMemoryRegion region() {
        return region;
    }

    /** The memory, for other sets. */
    RemoteMemoryRegion remote() {
        return remote;
    }

    /** Offset of the word that the other side writes. */
    static int word(final long side) {
        return (int) side * PIECE_BYTES;
    }

    /** Offset of the source of an operation. */
    static int source(final long side, final int operation) {
        return word(side) + SOURCES + operation * Long.BYTES;
    }

    /** Offset of the destination of an operation. */
    static int destination(final long side, final int operation) {
        return word(side) + DESTINATIONS + operation * Long.BYTES;
    }

    long get(final int offset) {
        return words.getLongVolatile(offset);
    }

    void put(final int offset, final long value) {
        words.putLongVolatile(offset, value);
    }

    @Override
    public void close() {
        remote.close();
        region.close();
    }
}
