package io.ringpoll.internal.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of every frame.
 * <pre>
 *    0       2         3      4      5       6         8                16               20
 *   +-------+---------+------+------+-------+---------+----------------+----------------+----------------+
 *   | magic | version | kind | type | flags | credits | correlation id | payload length | message length |
 *   +-------+---------+------+------+-------+---------+----------------+----------------+----------------+
 * </pre>
 *
 * <p>Little endian. The payload is the remainder of the frame. The message is longer than the payload only if it is fetched by an
 * RDMA read ({@link #FLAG_RENDEZVOUS}); the payload then contains its location.
 *
 * @param kind          of {@link FrameKind}
 * @param type          code of a {@link MessageType}, 0 without a message
 * @param flags         {@link #FLAG_RENDEZVOUS}, {@link #FLAG_URGENT} or 0
 * @param credits       number of credits returned to the receiver of this frame
 * @param correlationId equal in a request and its reply
 * @param payloadLength in bytes
 * @param messageLength in bytes
 */
record FrameHeader(byte kind, byte type, byte flags, int credits, long correlationId, int payloadLength, int messageLength) {
    static final int LENGTH_BYTES = 24;
    static final short MAGIC = 0x5052;
    static final byte VERSION = 1;
    static final byte FLAG_RENDEZVOUS = 1;
    /** The frame costs and returns urgent credits; its message, if it has one, is delivered before those that wait. */
    static final byte FLAG_URGENT = 2;
    static final int MAX_CREDITS = 0xFFFF;

    private static final int VERSION_OFFSET = 2;
    private static final int KIND_OFFSET = 3;
    private static final int TYPE_OFFSET = 4;
    private static final int FLAGS_OFFSET = 5;
    private static final int CREDITS_OFFSET = 6;
    private static final int CORRELATION_OFFSET = 8;
    private static final int PAYLOAD_LENGTH_OFFSET = 16;
    private static final int MESSAGE_LENGTH_OFFSET = 20;

    boolean isRendezvous() {
        return (flags & FLAG_RENDEZVOUS) != 0;
    }

    boolean isUrgent() {
        return (flags & FLAG_URGENT) != 0;
    }

    /** Writes the header to the start of the buffer, regardless of its position. */
    void write(final ByteBuffer buffer) {
        buffer.order(ByteOrder.LITTLE_ENDIAN).putShort(0, MAGIC).put(VERSION_OFFSET, VERSION).put(KIND_OFFSET, kind)
            .put(TYPE_OFFSET, type).put(FLAGS_OFFSET, flags).putShort(CREDITS_OFFSET, (short) credits)
            .putLong(CORRELATION_OFFSET, correlationId).putInt(PAYLOAD_LENGTH_OFFSET, payloadLength)
            .putInt(MESSAGE_LENGTH_OFFSET, messageLength);
    }

    /**
     * Reads and checks the header of a frame.
     *
     * @param frame            the whole frame, from 0 to its limit
     * @param maxMessageLength maximum length of a message
     * @throws ProtocolException if the header is invalid
     */
    static FrameHeader read(final ByteBuffer frame, final int maxMessageLength) throws ProtocolException {
        final int length = frame.limit();
        if (length < LENGTH_BYTES) {
            throw new ProtocolException("a frame of " + length + " bytes");
        }
        frame.order(ByteOrder.LITTLE_ENDIAN);
        if (frame.getShort(0) != MAGIC) {
            throw new ProtocolException("a frame with the magic number 0x" + Integer.toHexString(frame.getShort(0) & 0xFFFF));
        }
        if (frame.get(VERSION_OFFSET) != VERSION) {
            throw new ProtocolException("a frame of version " + frame.get(VERSION_OFFSET));
        }
        final FrameHeader header = new FrameHeader(frame.get(KIND_OFFSET), frame.get(TYPE_OFFSET), frame.get(FLAGS_OFFSET),
            frame.getShort(CREDITS_OFFSET) & MAX_CREDITS, frame.getLong(CORRELATION_OFFSET), frame.getInt(PAYLOAD_LENGTH_OFFSET),
            frame.getInt(MESSAGE_LENGTH_OFFSET));
        final String violation = header.violation(length - LENGTH_BYTES, maxMessageLength);
        if (violation != null) {
            throw new ProtocolException(violation);
        }
        return header;
    }

    /** The violated rule, or null; a text is only composed for a violation. */
    private String violation(final int received, final int maxMessageLength) {
        if (kind < FrameKind.REQUEST || kind > FrameKind.PROOF) {
            return "a frame of kind " + kind;
        }
        if (payloadLength != received) {
            return "a payload of " + payloadLength + " bytes in a frame with " + received;
        }
        if (flags < 0 || flags > FLAG_URGENT) {
            return "a frame with flags " + flags;
        }
        if (!FrameKind.hasMessage(kind)) {
            final boolean mayBeUrgent = kind == FrameKind.CREDIT || kind == FrameKind.RELEASE;
            return payloadLength == 0 && messageLength == 0 && (flags == 0 || isUrgent() && mayBeUrgent) ? null :
                "a frame of kind " + kind + " with a payload";
        }
        if (messageLength < 0 || messageLength > maxMessageLength) {
            return "a message of " + messageLength + " bytes; the maximum is " + maxMessageLength;
        }
        if (!isRendezvous() && messageLength != payloadLength) {
            return "a message of " + messageLength + " bytes in a payload of " + payloadLength;
        }
        return isUrgent() && kind == FrameKind.PROOF ? "an urgent proof" : null;
    }
}
