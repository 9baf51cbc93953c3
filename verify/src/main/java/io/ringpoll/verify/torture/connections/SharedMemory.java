package io.ringpoll.verify.torture.connections;

import io.ringpoll.connections.ConnectionSetBuilder;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.internal.rc.RdmaApi;
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
abstract class SharedMemory implements AutoCloseable {
    /** Maximum number of operations of a side under way. */
    static final int MAX_OPERATIONS = 16;
    private static final int SIDES = 4096;
    private static final int SOURCES = Long.BYTES;
    private static final int DESTINATIONS = SOURCES + MAX_OPERATIONS * Long.BYTES;
    private static final int PIECE_BYTES = DESTINATIONS + MAX_OPERATIONS * Long.BYTES;

    private final UnsafeBuffer words;

    SharedMemory(final MemorySegment memory) {
        memory.fill((byte) 0);
        words = new UnsafeBuffer(memory.asByteBuffer());
    }

    /** Opens the device of an address, and registers memory. */
    static SharedMemory open(final RdmaApi api, final String address) {
        return api == RdmaApi.RPMA ? RpmaSharedMemory.open(address) : VerbsSharedMemory.open(address);
    }

    /** The length of the memory. */
    static long lengthBytes() {
        return (long) SIDES * PIECE_BYTES;
    }

    /** Whether a side has words; the sides of the largest scenes have them, but not all that are connected again. */
    static boolean hasWords(final long side) {
        return side < SIDES;
    }

    /** Lets a set use the device of the memory. */
    abstract void describe(ConnectionSetBuilder builder);

    /** Posts a write from this memory to that of another set; as {@link MessageConnection#tryWrite}. */
    abstract boolean tryWrite(
        MessageConnection connection, SharedMemory target, long targetOffset, long sourceOffset, long lengthBytes, long tag);

    /** Posts a read of the memory of another set into this one; as {@link MessageConnection#tryRead}. */
    abstract boolean tryRead(
        MessageConnection connection, long targetOffset, SharedMemory source, long sourceOffset, long lengthBytes, long tag);

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
    public abstract void close();
}
