package io.ringpoll.verify.torture.connections;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The lengths and the contents of the messages of a scene: the number of the side that sends them and their place in its sequence
 * define each byte. The first message of a side contains its number. Stateless.
 */
public final class Content {
    static final int FIRST_BYTES = 2 * Long.BYTES;
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    private static final int KINDS = 8;

    private Content() {
    }

    /** The length of a message, from 0 to the maximum. */
    static int length(final long side, final long sequence, final int maxBytes) {
        if (sequence == 0) {
            return FIRST_BYTES;
        }
        final long drawn = mix(side * GOLDEN ^ sequence);
        return switch ((int) (drawn & KINDS - 1)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> maxBytes;
            default -> (int) ((drawn >>> 8) % (Math.min(maxBytes, 256) + 1));
        };
    }

    /**
     * Writes a message.
     *
     * @param side     number of the side that sends it
     * @param sequence its place, from 0
     * @param buffer   destination
     * @param offset   of the first byte
     * @param length   in bytes
     */
    public static void write(final long side, final long sequence, final MutableDirectBuffer buffer, final int offset,
        final int length) {
        if (sequence == 0) {
            buffer.putLong(offset, side);
            buffer.putLong(offset + Long.BYTES, mix(side));
            return;
        }
        long word = mix(side ^ sequence * GOLDEN);
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            buffer.putLong(offset + at, word);
            word = word * GOLDEN + sequence;
        }
        for (; at < length; at++) {
            buffer.putByte(offset + at, (byte) word);
            word >>>= Byte.SIZE;
        }
    }

    /** Whether a message has its length and its bytes. */
    static boolean isRight(
        final long side, final long sequence, final int maxBytes, final DirectBuffer buffer, final int offset, final int length) {
        if (length != length(side, sequence, maxBytes)) {
            return false;
        }
        return sequence == 0 ? sideOf(buffer, offset, length) == side : hasBytes(side, sequence, buffer, offset, length);
    }

    /**
     * Whether a message has its bytes.
     *
     * @param side     number of the side that has sent it
     * @param sequence its place, from 1
     * @param buffer   has the message
     * @param offset   of the first byte
     * @param length   in bytes
     * @return false if a byte differs
     */
    public static boolean hasBytes(
        final long side, final long sequence, final DirectBuffer buffer, final int offset, final int length) {
        long word = mix(side ^ sequence * GOLDEN);
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            if (buffer.getLong(offset + at) != word) {
                return false;
            }
            word = word * GOLDEN + sequence;
        }
        for (; at < length; at++) {
            if (buffer.getByte(offset + at) != (byte) word) {
                return false;
            }
            word >>>= Byte.SIZE;
        }
        return true;
    }

    /** The number of the side in its first message; 0 if it is not one. */
    static long sideOf(final DirectBuffer buffer, final int offset, final int length) {
        if (length != FIRST_BYTES) {
            return 0;
        }
        final long side = buffer.getLong(offset);
        return buffer.getLong(offset + Long.BYTES) == mix(side) ? side : 0;
    }

    /**
     * Mixes the bits of a number.
     *
     * @param value any number
     * @return a number that differs in about half of its bits if one bit of the value differs
     */
    public static long mix(final long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }
}
