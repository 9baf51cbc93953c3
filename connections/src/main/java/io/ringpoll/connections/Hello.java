package io.ringpoll.connections;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The first bytes from each side, as private data of the connection request and of the answer, in network byte order:
 * <pre>
 *   0        4         5             6                        8                  12
 *   | magic  | version | data length | window in messages     | max message bytes | user's private data
 * </pre>
 * Both sides use the lesser window and the lesser maximum length. The length of the user's data is explicit because the
 * connection manager pads private data with zeros.
 *
 * @param window          maximum number of messages in flight in each direction, 1 to {@link #MAX_WINDOW}
 * @param maxMessageBytes maximum length of a message, at least 1
 * @param userData        at most {@link #MAX_USER_DATA} bytes
 */
record Hello(int window, int maxMessageBytes, byte[] userData) {
    static final int VERSION = 1;
    /** Limit of the credits in the immediate data. */
    static final int MAX_WINDOW = 1 << 15;
    private static final int MAGIC = 0x72_70_6D_73;
    private static final int LENGTH_BYTES = 12;
    private static final int REQUEST_BYTES = 56;
    /** InfiniBand and RoCE carry 56 bytes with a request. */
    static final int MAX_USER_DATA = REQUEST_BYTES - LENGTH_BYTES;

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH_BYTES + userData.length).order(ByteOrder.BIG_ENDIAN).putInt(MAGIC).put((byte) VERSION)
            .put((byte) userData.length).putShort((short) window).putInt(maxMessageBytes).put(userData).array();
    }

    static Hello decode(final byte[] privateData) throws ProtocolViolation {
        if (privateData.length < LENGTH_BYTES) {
            throw new ProtocolViolation("a hello of " + privateData.length + " bytes");
        }
        final ByteBuffer bytes = ByteBuffer.wrap(privateData).order(ByteOrder.BIG_ENDIAN);
        if (bytes.getInt() != MAGIC) {
            throw new ProtocolViolation("a hello of another protocol");
        }
        final int version = bytes.get() & 0xFF;
        if (version != VERSION) {
            throw new ProtocolViolation("protocol version " + version + ", not " + VERSION);
        }
        final int userDataLength = bytes.get() & 0xFF;
        final int window = bytes.getShort() & 0xFFFF;
        final int maxMessageBytes = bytes.getInt();
        if (userDataLength > privateData.length - LENGTH_BYTES) {
            throw new ProtocolViolation("a hello with " + userDataLength + " bytes of data in " + privateData.length);
        }
        if (window < 1 || window > MAX_WINDOW || maxMessageBytes < 1) {
            throw new ProtocolViolation("a hello with a window of " + window + " messages of " + maxMessageBytes + " bytes");
        }
        return new Hello(window, maxMessageBytes,
            Arrays.copyOfRange(privateData, LENGTH_BYTES, LENGTH_BYTES + userDataLength));
    }
}
