package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PayloadTest {
    @ParameterizedTest
    @ValueSource(ints = {8, 9, 15, 16, 64, 100})
    void shouldNoticeEveryChangedByte(final int length) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[128]);
        Payload.fill(buffer, 8, length, 77);
        assertTrue(Payload.matches(buffer, 8, length, 77));
        assertFalse(Payload.matches(buffer, 8, length, 78));
        for (int i = 8; i < 8 + length; i++) {
            final byte kept = buffer.getByte(i);
            buffer.putByte(i, (byte) (kept ^ 1));
            assertFalse(Payload.matches(buffer, 8, length, 77), "byte " + i);
            buffer.putByte(i, kept);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 9, 15, 16})
    void shouldWriteNothingBehindItsEnd(final int length) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[32]);
        Payload.fill(buffer, 0, length, -1);
        for (int i = length; i < 32; i++) {
            assertTrue(buffer.getByte(i) == 0, "byte " + i);
        }
    }
}
