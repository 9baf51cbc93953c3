package io.ringpoll.internal.transport;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;

/**
 * A packet of a data stream: bytes without an encoding, so that a server can use and forward them where its device has put them.
 * The trailer follows the data, which therefore begins at the start of a page.
 * <pre>
 *    0        length - 40                                     - 16     - 8       - 4    - 0
 *   +--------+-----------------------+-----------------------+--------+---------+------+
 *   |  data  | client id, upper half | client id, lower half | stream | offset  | kind, options, unused
 *   +--------+-----------------------+-----------------------+--------+---------+------+
 * </pre>
 *
 * <p>A received packet may occupy registered memory. It is created with one reference, which belongs to the receiver of the
 * packet; the last {@link #release()} frees the memory. Thread-safe.
 */
public final class StreamPacket implements MessageLite {
    /** Length of a packet without data. */
    public static final int TRAILER_BYTES = 40;

    private static final int CLIENT_LOWER_OFFSET = 8;
    private static final int STREAM_OFFSET = 16;
    private static final int OFFSET_OFFSET = 24;
    private static final int KIND_OFFSET = 32;
    private static final int OPTIONS_OFFSET = 33;
    private static final byte OPTION_SYNC = 1;
    private static final byte OPTION_CLOSE = 2;

    private final Identity identity;
    private final long offset;
    private final Kind kind;
    private final byte options;
    private final Content content;
    private final int dataBytes;
    /** The memory of a received packet with its trailer; null for other packets. */
    private final RegionPool.Lease lease;
    private final ByteBuffer received;
    private final AtomicInteger references = new AtomicInteger(1);

    /** The kind of a packet. */
    public enum Kind {
        /** Opens a stream; the data is the client's request. */
        HEADER,
        /** Data to append. */
        DATA,
        /** Ends a stream before its close. */
        ABORT;

        private static final Kind[] ALL = values();
    }

    /**
     * The identity of a stream.
     *
     * @param client of the stream
     * @param stream number of the stream at the client
     */
    public record Identity(UUID client, long stream) {
    }

    /** The data of a packet to be sent. */
    @FunctionalInterface
    public interface Content {
        /** No data. */
        Content NONE = target -> { };

        /**
         * Writes the data.
         *
         * @param target has the exact room for it
         * @throws IOException if the source cannot be read
         */
        void copyTo(ByteBuffer target) throws IOException;
    }

    private StreamPacket(final Identity identity, final long offset, final Kind kind, final byte options, final Content content,
        final int dataBytes, final RegionPool.Lease lease, final ByteBuffer received) {
        this.identity = identity;
        this.offset = offset;
        this.kind = kind;
        this.options = options;
        this.content = content;
        this.dataBytes = dataBytes;
        this.lease = lease;
        this.received = received;
    }

    /**
     * A packet to be sent.
     *
     * @param identity  of the stream
     * @param offset    of the data in the stream, in bytes
     * @param kind      of the packet
     * @param sync      whether the data must be on the disks before the reply
     * @param close     whether it is the last packet of its stream
     * @param dataBytes length of the data
     * @param content   the data, read once, before the call that sends the packet returns
     * @return the packet
     */
    public static StreamPacket toSend(final Identity identity, final long offset, final Kind kind, final boolean sync,
        final boolean close, final int dataBytes, final Content content) {
        final byte options = (byte) ((sync ? OPTION_SYNC : 0) | (close ? OPTION_CLOSE : 0));
        return new StreamPacket(identity, offset, kind, options, content, dataBytes, null, null);
    }

    /** A packet in the memory into which it has been read; takes a reference of its own to the memory. */
    static StreamPacket landed(final RegionPool.Lease lease, final int lengthBytes) throws ProtocolException {
        final StreamPacket packet = received(lease.buffer(lengthBytes), lease);
        lease.retain();
        return packet;
    }

    /** A packet in a frame, whose buffer will be used again. */
    static StreamPacket copyOf(final ByteBuffer frame) throws ProtocolException {
        final ByteBuffer copy = ByteBuffer.allocate(frame.remaining()).put(frame.duplicate()).flip();
        return received(copy, null);
    }

    private static StreamPacket received(final ByteBuffer bytes, final RegionPool.Lease lease) throws ProtocolException {
        final int dataBytes = bytes.remaining() - TRAILER_BYTES;
        if (dataBytes < 0) {
            throw new ProtocolException("a packet of a stream with " + bytes.remaining() + " bytes");
        }
        final ByteBuffer trailer = bytes.slice(dataBytes, TRAILER_BYTES).order(ByteOrder.BIG_ENDIAN);
        final byte kind = trailer.get(KIND_OFFSET);
        if (kind < 0 || kind >= Kind.ALL.length) {
            throw new ProtocolException("a packet of a stream of kind " + kind);
        }
        final Identity identity =
            new Identity(new UUID(trailer.getLong(0), trailer.getLong(CLIENT_LOWER_OFFSET)), trailer.getLong(STREAM_OFFSET));
        return new StreamPacket(identity, trailer.getLong(OFFSET_OFFSET), Kind.ALL[kind], trailer.get(OPTIONS_OFFSET),
            Content.NONE, dataBytes, lease, bytes);
    }

    /** Whether a message is a packet in registered memory, from which a peer can read it. */
    static boolean isRegistered(final MessageLite message) {
        return message instanceof final StreamPacket packet && packet.lease != null;
    }

    /** Releases the memory of a message that is dropped, if it is a packet. */
    static void discard(final MessageLite message) {
        if (message instanceof final StreamPacket packet) {
            packet.release();
        }
    }

    /**
     * The identity of its stream.
     *
     * @return client and number
     */
    public Identity identity() {
        return identity;
    }

    /**
     * The position of the data.
     *
     * @return bytes from the start of the stream
     */
    public long offset() {
        return offset;
    }

    /**
     * The kind.
     *
     * @return kind of the packet
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Whether the data must be on the disks before the reply.
     *
     * @return true if it must
     */
    public boolean isSync() {
        return (options & OPTION_SYNC) != 0;
    }

    /**
     * Whether it is the last packet of its stream.
     *
     * @return true if no other one follows
     */
    public boolean isClose() {
        return (options & OPTION_CLOSE) != 0;
    }

    /**
     * The length of the data.
     *
     * @return bytes
     */
    public int dataBytes() {
        return dataBytes;
    }

    /**
     * The data of a received packet; valid until the last release.
     *
     * @return a read-only view
     */
    public ByteBuffer data() {
        return received.slice(0, dataBytes).asReadOnlyBuffer();
    }

    /** The registered memory that contains the packet with its trailer, or null. */
    RegionPool.Lease lease() {
        return lease;
    }

    /** Takes another reference; only with one that is not released. */
    public void retain() {
        references.incrementAndGet();
    }

    /** Releases a reference; the last release frees the memory. */
    public void release() {
        final int left = references.decrementAndGet();
        assert left >= 0 : "a packet that is released too often";
        if (left == 0 && lease != null) {
            lease.release();
        }
    }

    @Override
    public int getSerializedSize() {
        return dataBytes + TRAILER_BYTES;
    }

    /** Writes data and trailer into the room for them. */
    void writeTo(final ByteBuffer target) throws IOException {
        if (received != null) {
            target.put(received.duplicate());
            return;
        }
        final ByteBuffer data = target.slice(target.position(), dataBytes);
        content.copyTo(data);
        if (data.hasRemaining()) {
            throw new IOException("the data of a stream ends " + data.remaining() + " bytes early");
        }
        final ByteBuffer trailer =
            target.slice(target.position() + dataBytes, TRAILER_BYTES).order(ByteOrder.BIG_ENDIAN);
        trailer.putLong(0, identity.client().getMostSignificantBits());
        trailer.putLong(CLIENT_LOWER_OFFSET, identity.client().getLeastSignificantBits());
        trailer.putLong(STREAM_OFFSET, identity.stream()).putLong(OFFSET_OFFSET, offset);
        trailer.put(KIND_OFFSET, (byte) kind.ordinal()).put(OPTIONS_OFFSET, options);
        trailer.putShort(OPTIONS_OFFSET + 1, (short) 0).putInt(OPTIONS_OFFSET + 3, 0);
    }

    @Override
    public void writeTo(final CodedOutputStream output) throws IOException {
        output.writeRawBytes(toByteArray());
    }

    @Override
    public void writeTo(final OutputStream output) throws IOException {
        output.write(toByteArray());
    }

    @Override
    public byte[] toByteArray() {
        final ByteBuffer bytes = ByteBuffer.allocate(getSerializedSize());
        try {
            writeTo(bytes);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.array();
    }

    @Override
    public ByteString toByteString() {
        return ByteString.copyFrom(toByteArray());
    }

    @Override
    public boolean isInitialized() {
        return true;
    }

    @Override
    public void writeDelimitedTo(final OutputStream output) {
        throw notEncoded();
    }

    @Override
    public Parser<? extends MessageLite> getParserForType() {
        throw notEncoded();
    }

    @Override
    public Builder newBuilderForType() {
        throw notEncoded();
    }

    @Override
    public Builder toBuilder() {
        throw notEncoded();
    }

    @Override
    public MessageLite getDefaultInstanceForType() {
        throw notEncoded();
    }

    private static UnsupportedOperationException notEncoded() {
        return new UnsupportedOperationException("a packet of a stream has no encoding of Protocol Buffers");
    }

    @Override
    public String toString() {
        return kind + " of " + dataBytes + " bytes at " + offset + " of stream " + identity.stream() + " of " + identity.client();
    }
}
