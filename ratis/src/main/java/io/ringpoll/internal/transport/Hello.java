package io.ringpoll.internal.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The private data exchanged at the connect. The connection manager pads it with zeros, and carries at most 56 bytes of a request
 * and 196 of its reply.
 * <pre>
 *    0       4         6         8              12              16      17            18  20          36
 *   +-------+---------+---------+--------------+---------------+-------+-------------+---+-----------+---------------+
 *   | magic | version | credits | buffer bytes | message bytes | flags | name length | 0 | challenge | name or proof |
 *   +-------+---------+---------+--------------+---------------+-------+-------------+---+-----------+---------------+
 * </pre>
 *
 * <p>Little endian. A request has a name of up to {@link #MAX_NAME_BYTES}; a reply has a proof or nothing.
 *
 * @param credits         number of frames that the other side may send initially
 * @param bufferBytes     maximum length of a frame
 * @param maxMessageBytes maximum length of a message
 * @param role            of the sender
 * @param name            of the sender, for messages; not longer than {@link #MAX_NAME_BYTES}
 * @param challenge       of the sender, without which no proof is possible; null if it has no secret
 * @param proof           of the secret, for the other side's challenge; null in requests and without a secret
 */
record Hello(int credits, int bufferBytes, int maxMessageBytes, PeerRole role, String name, byte[] challenge, byte[] proof) {
    static final int MAGIC = 0x5450_5052;
    static final short VERSION = 4;
    static final int MAX_NAME_BYTES = 20;
    static final int CHALLENGE_BYTES = 16;

    private static final int LENGTH_BYTES = 36;
    private static final int VERSION_OFFSET = 4;
    private static final int CREDITS_OFFSET = 6;
    private static final int BUFFER_OFFSET = 8;
    private static final int MESSAGE_OFFSET = 12;
    private static final int FLAGS_OFFSET = 16;
    private static final int NAME_LENGTH_OFFSET = 17;
    private static final int CHALLENGE_OFFSET = 20;
    /** Length of the part that all versions have. */
    private static final int COMMON_BYTES = 16;
    private static final int FLAG_SERVER = 1;
    private static final int FLAG_CHALLENGE = 2;
    private static final int FLAG_PROOF = 4;

    /** The hello of a client without a name, a secret and a limit of its own for messages. */
    Hello(final int credits, final int bufferBytes) {
        this(credits, bufferBytes, Integer.MAX_VALUE, PeerRole.CLIENT, "", null, null);
    }

    Hello withProof(final byte[] added) {
        return new Hello(credits, bufferBytes, maxMessageBytes, role, name, challenge, added);
    }

    byte[] bytes() {
        final byte[] tail = proof != null ? proof : name.getBytes(StandardCharsets.ISO_8859_1);
        final int flags = (role == PeerRole.SERVER ? FLAG_SERVER : 0) | (challenge != null ? FLAG_CHALLENGE : 0) |
            (proof != null ? FLAG_PROOF : 0);
        final ByteBuffer buffer = ByteBuffer.allocate(LENGTH_BYTES + tail.length).order(ByteOrder.LITTLE_ENDIAN).putInt(0, MAGIC)
            .putShort(VERSION_OFFSET, VERSION).putShort(CREDITS_OFFSET, (short) credits).putInt(BUFFER_OFFSET, bufferBytes)
            .putInt(MESSAGE_OFFSET, maxMessageBytes)
            .put(FLAGS_OFFSET, (byte) flags).put(NAME_LENGTH_OFFSET, (byte) (proof != null ? 0 : tail.length));
        if (challenge != null) {
            buffer.put(CHALLENGE_OFFSET, challenge);
        }
        return buffer.put(LENGTH_BYTES, tail).array();
    }

    static Hello of(final byte[] privateData) throws ProtocolException {
        require(privateData.length >= COMMON_BYTES,
            "private data of " + privateData.length + " bytes: not a peer of this transport");
        final ByteBuffer buffer = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
        require(buffer.getInt(0) == MAGIC, "foreign private data: not a peer of this transport");
        require(buffer.getShort(VERSION_OFFSET) == VERSION,
            "version " + buffer.getShort(VERSION_OFFSET) + " of the transport; this side has version " + VERSION);
        require(privateData.length >= LENGTH_BYTES, "private data of " + privateData.length + " bytes");
        final int credits = buffer.getShort(CREDITS_OFFSET) & FrameHeader.MAX_CREDITS;
        final int bufferBytes = buffer.getInt(BUFFER_OFFSET);
        require(credits >= 1 && bufferBytes >= NodeConfig.MIN_BUFFER_BYTES,
            credits + " credits for frames of " + bufferBytes + " bytes");
        final int maxMessageBytes = buffer.getInt(MESSAGE_OFFSET);
        require(maxMessageBytes >= NodeConfig.MIN_BUFFER_BYTES, "messages of at most " + maxMessageBytes + " bytes");
        final int flags = buffer.get(FLAGS_OFFSET);
        require((flags & ~(FLAG_SERVER | FLAG_CHALLENGE | FLAG_PROOF)) == 0, "a hello with flags " + flags);
        final boolean hasProof = (flags & FLAG_PROOF) != 0;
        final int nameLength = buffer.get(NAME_LENGTH_OFFSET);
        require(nameLength >= 0 && nameLength <= (hasProof ? 0 : MAX_NAME_BYTES), "a name of " + nameLength + " bytes");
        require(privateData.length >= LENGTH_BYTES + (hasProof ? Secret.PROOF_BYTES : nameLength), "an incomplete hello");
        return new Hello(credits, bufferBytes, maxMessageBytes, (flags & FLAG_SERVER) != 0 ? PeerRole.SERVER : PeerRole.CLIENT,
            new String(privateData, LENGTH_BYTES, nameLength, StandardCharsets.ISO_8859_1),
            (flags & FLAG_CHALLENGE) != 0 ?
                Arrays.copyOfRange(privateData, CHALLENGE_OFFSET, CHALLENGE_OFFSET + CHALLENGE_BYTES) : null,
            hasProof ? Arrays.copyOfRange(privateData, LENGTH_BYTES, LENGTH_BYTES + Secret.PROOF_BYTES) : null);
    }

    private static void require(final boolean holds, final String violation) throws ProtocolException {
        if (!holds) {
            throw new ProtocolException(violation);
        }
    }

    /** The peer, for messages; a foreign name is not printed as it is. */
    String description() {
        final String printable = name.replaceAll("[^\\x21-\\x7e]", "?");
        return (role == PeerRole.SERVER ? "server " : "client ") + (printable.isEmpty() ? "without a name" : printable);
    }
}
