package io.ringpoll.connections;

import org.agrona.UnsafeApi;

/**
 * Copies messages into their buffers: short ones by a few words. A call of the JVM's copy routine takes longer than their bytes,
 * with the registers that it does not keep, and the copy is a part of the time until the message is posted.
 */
final class MessageCopy {
    /** Longer messages are copied by the JVM's routine. */
    static final int MOST_BY_WORDS = 64;
    /** Words of each of the two pieces, which overlap, of messages of various lengths. */
    private static final int ONE_WORD = Long.BYTES;
    private static final int TWO_WORDS = 2 * Long.BYTES;
    private static final int FOUR_WORDS = 4 * Long.BYTES;
    private static final int SECOND = Long.BYTES;
    private static final int THIRD = 2 * Long.BYTES;
    private static final int FOURTH = 3 * Long.BYTES;

    private MessageCopy() {
    }

    /**
     * Copies bytes; source and target may overlap.
     *
     * @param array       of the source; null if it is not on the heap
     * @param from        offset in the array, or address
     * @param to          address
     * @param lengthBytes 0 or more
     */
    static void copy(final byte[] array, final long from, final long to, final int lengthBytes) {
        if (lengthBytes > MOST_BY_WORDS || lengthBytes < ONE_WORD) {
            UnsafeApi.copyMemory(array, from, null, to, lengthBytes);
        } else if (lengthBytes >= FOUR_WORDS) {
            copyFourAndFourWords(array, from, to, lengthBytes - FOUR_WORDS);
        } else {
            copyFewWords(array, from, to, lengthBytes);
        }
    }

    /** All words are read before the first is written: the pieces overlap, and so may source and target. */
    private static void copyFourAndFourWords(final byte[] array, final long from, final long to, final int last) {
        final long first = UnsafeApi.getLong(array, from);
        final long second = UnsafeApi.getLong(array, from + SECOND);
        final long third = UnsafeApi.getLong(array, from + THIRD);
        final long fourth = UnsafeApi.getLong(array, from + FOURTH);
        final long fifth = UnsafeApi.getLong(array, from + last);
        final long sixth = UnsafeApi.getLong(array, from + last + SECOND);
        final long seventh = UnsafeApi.getLong(array, from + last + THIRD);
        final long eighth = UnsafeApi.getLong(array, from + last + FOURTH);
        UnsafeApi.putLong(to, first);
        UnsafeApi.putLong(to + SECOND, second);
        UnsafeApi.putLong(to + THIRD, third);
        UnsafeApi.putLong(to + FOURTH, fourth);
        UnsafeApi.putLong(to + last, fifth);
        UnsafeApi.putLong(to + last + SECOND, sixth);
        UnsafeApi.putLong(to + last + THIRD, seventh);
        UnsafeApi.putLong(to + last + FOURTH, eighth);
    }

    private static void copyFewWords(final byte[] array, final long from, final long to, final int lengthBytes) {
        if (lengthBytes < TWO_WORDS) {
            final long first = UnsafeApi.getLong(array, from);
            final long last = UnsafeApi.getLong(array, from + lengthBytes - ONE_WORD);
            UnsafeApi.putLong(to, first);
            UnsafeApi.putLong(to + lengthBytes - ONE_WORD, last);
            return;
        }
        final int last = lengthBytes - TWO_WORDS;
        final long first = UnsafeApi.getLong(array, from);
        final long second = UnsafeApi.getLong(array, from + SECOND);
        final long third = UnsafeApi.getLong(array, from + last);
        final long fourth = UnsafeApi.getLong(array, from + last + SECOND);
        UnsafeApi.putLong(to, first);
        UnsafeApi.putLong(to + SECOND, second);
        UnsafeApi.putLong(to + last, third);
        UnsafeApi.putLong(to + last + SECOND, fourth);
    }
}
