package io.ringpoll.ratis.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What both sides tell each other when they connect, in the private data of the connection: 16 bytes, little endian. The
 * connection manager fills what is behind them with zeros.
 *
 * @param credits     how many frames the other side may send before it is given more
 * @param bufferBytes how long a frame may be
 */
record Hello(int credits, int bufferBytes) {
    static final int MAGIC = 0x5450_5052;
    static final short VERSION = 1;

    private static final int LENGTH_BYTES = 16;
    private static final int VERSION_OFFSET = 4;
    private static final int CREDITS_OFFSET = 6;
    private static final int BUFFER_OFFSET = 8;

    byte[] bytes() {
        return ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(0, MAGIC).putShort(VERSION_OFFSET, VERSION)
            .putShort(CREDITS_OFFSET, (short) credits).putInt(BUFFER_OFFSET, bufferBytes).array();
    }

    static Hello of(final byte[] privateData) throws ProtocolException {
        if (privateData.length < LENGTH_BYTES) {
            throw new ProtocolException("private data of " + privateData.length + " bytes: not a peer of this transport");
        }
        final ByteBuffer buffer = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
        if (buffer.getInt(0) != MAGIC) {
            throw new ProtocolException("private data of something else: not a peer of this transport");
        }
        if (buffer.getShort(VERSION_OFFSET) != VERSION) {
            throw new ProtocolException(
                "version " + buffer.getShort(VERSION_OFFSET) + " of the transport, here it is " + VERSION);
        }
        final Hello hello = new Hello(buffer.getShort(CREDITS_OFFSET) & FrameHeader.MAX_CREDITS, buffer.getInt(BUFFER_OFFSET));
        if (hello.credits < 1 || hello.bufferBytes < NodeConfig.MIN_BUFFER_BYTES) {
            throw new ProtocolException(hello.credits + " credits for frames of " + hello.bufferBytes + " bytes");
        }
        return hello;
    }
}
