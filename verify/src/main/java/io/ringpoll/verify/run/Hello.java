package io.ringpoll.verify.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private data of a client's connection request.
 *
 * <pre>
 *   magic 4 | version 1 | purpose 1 | reserved 2 | session 4 | depth 4 | payload 4 | reserved 4 | seed 8     network byte order
 * </pre>
 *
 * @param purpose      purpose of the connection
 * @param session      number of the connection, for the identities of payloads
 * @param depth        work requests in flight
 * @param payloadBytes length of each payload
 * @param seed         seed of the run
 */
record Hello(Purpose purpose, int session, int depth, int payloadBytes, long seed) {
    /** Length of the encoding in bytes. */
    static final int LENGTH = 32;

    private static final int MAGIC = 0x52504F4C;
    private static final byte VERSION = 1;
    private static final int MAX_DEPTH = 1 << 14;
    private static final int MAX_PAYLOAD = 1 << 24;

    /** The purposes of a connection. */
    enum Purpose {
        /** The steady workload. */
        STEADY,
        /** An operation beyond the end of the remote region. */
        BEYOND_REGION,
        /** An operation that the remote region's rights do not allow. */
        NO_RIGHTS,
        /** A disconnect with work outstanding. */
        DISCONNECT
    }

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH)
            .putInt(MAGIC).put(VERSION).put((byte) purpose.ordinal()).putShort((short) 0)
            .putInt(session).putInt(depth).putInt(payloadBytes).putInt(0).putLong(seed)
            .array();
    }

    /**
     * Decodes the private data of a client.
     *
     * @param privateData possibly longer than the encoding, padded by the transport
     * @throws IllegalArgumentException that names the invalid field
     */
    static Hello decode(final byte[] privateData) {
        if (privateData.length < LENGTH) {
            throw new IllegalArgumentException(
                "private data of " + privateData.length + " bytes, at least " + LENGTH + " needed");
        }
        final ByteBuffer buffer = ByteBuffer.wrap(privateData).order(ByteOrder.BIG_ENDIAN);
        final int magic = buffer.getInt();
        final byte version = buffer.get();
        final int purpose = buffer.get();
        buffer.getShort();
        if (magic != MAGIC || version != VERSION || purpose < 0 || purpose >= Purpose.values().length) {
            throw new IllegalArgumentException("not a ringpoll client of version " + VERSION);
        }
        final int session = buffer.getInt();
        final int depth = buffer.getInt();
        final int payload = buffer.getInt();
        buffer.getInt();
        if (depth < 1 || depth > MAX_DEPTH || Integer.bitCount(depth) != 1) {
            throw new IllegalArgumentException("depth " + depth + " is not a power of two up to " + MAX_DEPTH);
        }
        if (payload < Payload.MIN_LENGTH || payload > MAX_PAYLOAD || (long) depth * payload > Integer.MAX_VALUE / 4) {
            throw new IllegalArgumentException("payload of " + payload + " bytes at depth " + depth + " is out of bounds");
        }
        return new Hello(Purpose.values()[purpose], session, depth, payload, buffer.getLong());
    }
}
