package io.ringpoll.internal.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A received frame, independent of its receive buffer.
 *
 * @param header        checked
 * @param message       contained in the frame, or null
 * @param advertisement of a message to be read, or null
 */
record Incoming(FrameHeader header, MessageLite message, Advertisement advertisement) {
    /**
     * Decodes a frame.
     *
     * @param frame            from 0 to its limit
     * @param maxMessageLength maximum length of a message
     * @throws ProtocolException if the frame is invalid
     */
    static Incoming decode(final ByteBuffer frame, final int maxMessageLength) throws ProtocolException {
        final FrameHeader header = FrameHeader.read(frame, maxMessageLength);
        if (!FrameKind.hasMessage(header.kind())) {
            return new Incoming(header, null, null);
        }
        if (header.isRendezvous()) {
            MessageType.of(header.type());
            return new Incoming(header, null, Advertisement.read(frame, header));
        }
        return new Incoming(header, message(header, frame.slice(FrameHeader.LENGTH_BYTES, header.messageLength())), null);
    }

    /** The same frame with the message that was read from the peer's memory. */
    Incoming withMessage(final ByteBuffer bytes) throws ProtocolException {
        return new Incoming(header, message(header, bytes), null);
    }

    /** The same frame with the packet of a stream that was read from the peer's memory, and remains in that of the lease. */
    Incoming withPacket(final RegionPool.Lease lease) throws ProtocolException {
        return new Incoming(header, StreamPacket.landed(lease, header.messageLength()), null);
    }

    /** Whether the message is a packet of a stream. */
    boolean isPacket() throws ProtocolException {
        return MessageType.of(header.type()).isPacket(header.kind());
    }

    /** Releases the memory of a message that is not delivered. */
    void discard() {
        StreamPacket.discard(message);
    }

    private static MessageLite message(final FrameHeader header, final ByteBuffer bytes) throws ProtocolException {
        final MessageType type = MessageType.of(header.type());
        if (type.isPacket(header.kind())) {
            return StreamPacket.copyOf(bytes);
        }
        try {
            final CodedInputStream in = CodedInputStream.newInstance(bytes);
            final MessageLite message = type.parser(header.kind()).parseFrom(in);
            if (!in.isAtEnd()) {
                throw new ProtocolException("bytes after a message of type " + type);
            }
            return message;
        } catch (final InvalidProtocolBufferException e) {
            throw new ProtocolException("an invalid " + type + ": " + e.getMessage(), e);
        } catch (final ProtocolException e) {
            throw e;
        } catch (final IOException e) {
            throw new ProtocolException("a message that cannot be read", e);
        }
    }
}
