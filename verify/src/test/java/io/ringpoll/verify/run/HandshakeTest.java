package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HandshakeTest {
    private static final Hello HELLO = new Hello(Hello.Purpose.NO_RIGHTS, 7, 64, 256, 99);

    @Test
    void shouldReadAHelloThatTheTransportHasPadded() {
        assertEquals(HELLO, Hello.decode(HELLO.encode()));
        assertEquals(HELLO, Hello.decode(Arrays.copyOf(HELLO.encode(), 56)));
    }

    @Test
    void shouldReadAWelcomeThatTheTransportHasPadded() {
        final Welcome welcome = new Welcome(new byte[] {1, 2, 3}, new byte[] {4});
        final Welcome read = Welcome.decode(Arrays.copyOf(welcome.encode(), 196));
        assertArrayEquals(welcome.cells(), read.cells());
        assertArrayEquals(welcome.refused(), read.refused());
    }

    @Test
    void shouldRejectInvalidPrivateData() {
        final Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            final byte[] bytes = i % 2 == 0 ? HELLO.encode() : new Welcome(new byte[30], new byte[30]).encode();
            for (int change = 0; change < 1 + i % 3; change++) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            final byte[] received = Arrays.copyOf(bytes, random.nextInt(bytes.length + 8));
            decodeOrRefuse(received);
        }
        assertThrows(IllegalArgumentException.class, () -> Hello.decode(new byte[0]));
        assertThrows(IllegalArgumentException.class, () -> Welcome.decode(new byte[] {1}));
    }

    private static void decodeOrRefuse(final byte[] received) {
        try {
            final Hello hello = Hello.decode(received);
            assertEquals(1, Integer.bitCount(hello.depth()));
        } catch (final IllegalArgumentException refused) {
            // Invalid private data must be rejected with a reason of one line.
        }
        try {
            Welcome.decode(received);
        } catch (final IllegalArgumentException refused) {
            // As above.
        }
    }
}
