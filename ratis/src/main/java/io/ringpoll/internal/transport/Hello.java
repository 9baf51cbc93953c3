package io.ringpoll.internal.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private data exchanged at the connect: 16 bytes, little endian. The connection manager pads it with zeros.
 *
 * @param credits         number of frames that the other side may send initially
 * @param bufferBytes     maximum length of a frame
 * @param maxMessageBytes maximum length of a message
 */
record Hello(int credits, int bufferBytes, int maxMessageBytes) {
    static final int MAGIC = 0x5450_5052;
    static final short VERSION = 1;

    private static final int LENGTH_BYTES = 16;
    private static final int VERSION_OFFSET = 4;
    private static final int CREDITS_OFFSET = 6;
    private static final int BUFFER_OFFSET = 8;
    private static final int MESSAGE_OFFSET = 12;

    /** A hello without a limit of its own for messages. */
    Hello(final int credits, final int bufferBytes) {
        this(credits, bufferBytes, Integer.MAX_VALUE);
    }

    byte[] bytes() {
        return ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(0, MAGIC).putShort(VERSION_OFFSET, VERSION)
            .putShort(CREDITS_OFFSET, (short) credits).putInt(BUFFER_OFFSET, bufferBytes)
            .putInt(MESSAGE_OFFSET, maxMessageBytes).array();
    }

    static Hello of(final byte[] privateData) throws ProtocolException {
        if (privateData.length < LENGTH_BYTES) {
            throw new ProtocolException("private data of " + privateData.length + " bytes: not a peer of this transport");
        }
        final ByteBuffer buffer = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
        if (buffer.getInt(0) != MAGIC) {
            throw new ProtocolException("foreign private data: not a peer of this transport");
        }
        if (buffer.getShort(VERSION_OFFSET) != VERSION) {
            throw new ProtocolException(
                "version " + buffer.getShort(VERSION_OFFSET) + " of the transport; this side has version " + VERSION);
        }
        final Hello hello = new Hello(buffer.getShort(CREDITS_OFFSET) & FrameHeader.MAX_CREDITS, buffer.getInt(BUFFER_OFFSET),
            buffer.getInt(MESSAGE_OFFSET));
        if (hello.credits < 1 || hello.bufferBytes < NodeConfig.MIN_BUFFER_BYTES) {
            throw new ProtocolException(hello.credits + " credits for frames of " + hello.bufferBytes + " bytes");
        }
        if (hello.maxMessageBytes < NodeConfig.MIN_BUFFER_BYTES) {
            throw new ProtocolException("messages of at most " + hello.maxMessageBytes + " bytes");
        }
        return hello;
    }
}
