package io.ringpoll.internal.ffm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranges are accepted and refused as by the JDK's check. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BoundsTest {
    private static final long[] VALUES = {
        Long.MIN_VALUE, Long.MIN_VALUE + 1, -2, -1, 0, 1, 2, 3, 4, Long.MAX_VALUE - 1, Long.MAX_VALUE
    };

    @Test
    void shouldAcceptAndRefuseAsTheCheckOfTheJdk() {
        for (final long size : new long[] {0, 1, 3, Long.MAX_VALUE}) {
            for (final long first : VALUES) {
                for (final long length : VALUES) {
                    final String range = length + " from " + first + " of " + size;
                    if (isAccepted(() -> Objects.checkFromIndexSize(first, length, size))) {
                        assertDoesNotThrow(() -> Bounds.checkRange(first, length, size), range);
                    } else {
                        assertThrows(IndexOutOfBoundsException.class, () -> Bounds.checkRange(first, length, size), range);
                    }
                }
            }
        }
    }

    private static boolean isAccepted(final Runnable check) {
        try {
            check.run();
            return true;
        } catch (final IndexOutOfBoundsException refused) {
            return false;
        }
    }
}
