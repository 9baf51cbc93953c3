package io.ringpoll.verbs;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Memory of the other side that requests of this side access: made by {@link MemoryRegion#remote()} there and sent as private
 * data or as a message. The other side's device checks each access. Immutable.
 *
 * @param address     of the first byte, in the other side's process
 * @param lengthBytes length
 * @param key         the region's {@code rkey}
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_mr(3)</a>
 */
public record RemoteMemory(long address, long lengthBytes, int key) {
    /** Length of {@link #toBytes()}. */
    public static final int SIZE_BYTES = Long.BYTES + Long.BYTES + Integer.BYTES;

    /** Checks the length. */
    public RemoteMemory {
        if (lengthBytes < 0) {
            throw new IllegalArgumentException("remote memory of " + lengthBytes + " bytes");
        }
    }

    /**
     * Reads what {@link #toBytes()} has made on the other side.
     *
     * @param bytes  at least {@value #SIZE_BYTES} from the offset on
     * @param offset of the first byte
     * @return the memory
     * @throws IndexOutOfBoundsException if the bytes are too few
     * @throws IllegalArgumentException  if they hold a negative length
     */
    public static RemoteMemory of(final byte[] bytes, final int offset) {
        Objects.requireNonNull(bytes, "the bytes are null");
        Objects.checkFromIndexSize(offset, SIZE_BYTES, bytes.length);
        final ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, SIZE_BYTES);
        return new RemoteMemory(buffer.getLong(), buffer.getLong(), buffer.getInt());
    }

    /**
     * The three numbers in network byte order, for {@link #of}.
     *
     * @return a new array of {@value #SIZE_BYTES} bytes
     */
    public byte[] toBytes() {
        return ByteBuffer.allocate(SIZE_BYTES).putLong(address).putLong(lengthBytes).putInt(key).array();
    }
}
