package io.ringpoll.verify.run;

import org.agrona.MutableDirectBuffer;

/**
 * The bytes of a message, computed from its identity, so that the receiver can verify them.
 *
 * <pre>
 *   offset 0   identity, 8 bytes
 *          8   words of a pseudo-random sequence with the identity as seed, the last one truncated at the end of the payload
 * </pre>
 *
 * <p>Stateless; allocates nothing.
 */
public final class Payload {
    /** The smallest payload: it holds its identity. */
    public static final int MIN_LENGTH = Long.BYTES;

    private static final long GOLDEN_GAMMA = 0x9E37_79B9_7F4A_7C15L;

    private Payload() {
    }

    static void fill(final MutableDirectBuffer buffer, final int offset, final int length, final long identity) {
        buffer.putLong(offset, identity);
        final int words = length >>> 3;
        for (int word = 1; word < words; word++) {
            buffer.putLong(offset + (word << 3), word(identity, word));
        }
        long last = word(identity, words);
        for (int at = words << 3; at < length; at++) {
            buffer.putByte(offset + at, (byte) last);
            last >>>= 8;
        }
    }

    /** Whether the bytes are those that {@link #fill} writes for this identity. */
    static boolean matches(final MutableDirectBuffer buffer, final int offset, final int length, final long identity) {
        boolean equal = buffer.getLong(offset) == identity;
        final int words = length >>> 3;
        for (int word = 1; word < words; word++) {
            equal &= buffer.getLong(offset + (word << 3)) == word(identity, word);
        }
        long last = word(identity, words);
        for (int at = words << 3; at < length; at++) {
            equal &= buffer.getByte(offset + at) == (byte) last;
            last >>>= 8;
        }
        return equal;
    }

    /** Spreads the bits of a number over all 64; by Sebastiano Vigna's SplitMix64. */
    static long mix(final long number) {
        long z = number;
        z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }

    private static long word(final long identity, final int word) {
        return mix(identity + word * GOLDEN_GAMMA);
    }
}
