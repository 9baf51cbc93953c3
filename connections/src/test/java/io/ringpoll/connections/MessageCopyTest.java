package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.concurrent.ThreadLocalRandom;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies of all short lengths: the bytes of the message, and no others. */
@Timeout(30)
class MessageCopyTest {
    private static final int BYTES = 256;
    private static final int MOST = 2 * MessageCopy.MOST_BY_WORDS;

    private final UnsafeBuffer target = new UnsafeBuffer(BufferUtil.allocateDirectAligned(BYTES, 64));

    @Test
    void shouldCopyFromAnArray() {
        final byte[] array = new byte[BYTES];
        ThreadLocalRandom.current().nextBytes(array);
        requireCopies(new UnsafeBuffer(array), array);
    }

    @Test
    void shouldCopyFromMemoryOutsideOfTheHeap() {
        final byte[] array = new byte[BYTES];
        ThreadLocalRandom.current().nextBytes(array);
        final UnsafeBuffer source = new UnsafeBuffer(BufferUtil.allocateDirectAligned(BYTES, 64));
        source.putBytes(0, array);
        requireCopies(source, array);
    }

    private void requireCopies(final UnsafeBuffer source, final byte... bytes) {
        for (int length = 0; length <= MOST; length++) {
            for (int at = 0; at < Long.BYTES; at++) {
                target.setMemory(0, BYTES, (byte) 0);
                MessageCopy.copy(source.byteArray(), source.addressOffset() + at, target.addressOffset() + 2 * at, length);
                final byte[] expected = new byte[BYTES];
                System.arraycopy(bytes, at, expected, 2 * at, length);
                assertArrayEquals(expected, contents(), length + " bytes from " + at);
            }
        }
    }

    /** A message may be copied from the buffer of another one of the same connection. */
    @Test
    void shouldCopyWhereSourceAndTargetOverlap() {
        final byte[] before = new byte[BYTES];
        ThreadLocalRandom.current().nextBytes(before);
        for (int length = 0; length <= MOST; length++) {
            for (int distance = -MessageCopy.MOST_BY_WORDS; distance <= MessageCopy.MOST_BY_WORDS; distance++) {
                target.putBytes(0, before);
                final int from = MessageCopy.MOST_BY_WORDS;
                MessageCopy.copy(null, target.addressOffset() + from, target.addressOffset() + from + distance, length);
                final byte[] expected = before.clone();
                System.arraycopy(before, from, expected, from + distance, length);
                assertArrayEquals(expected, contents(), length + " bytes by " + distance);
            }
        }
    }

    private byte[] contents() {
        final byte[] contents = new byte[BYTES];
        target.getBytes(0, contents);
        return contents;
    }
}
