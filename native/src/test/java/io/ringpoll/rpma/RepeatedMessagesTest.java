package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 10, unit = TimeUnit.SECONDS)
class RepeatedMessagesTest {
    private final RepeatedMessages messages = new RepeatedMessages();

    @Test
    void shouldLogEachPowerOfTwoOfEqualMessages() {
        assertEquals(List.of(1L, 2L, 4L, 8L, 16L), logged("failed", 20, 0));
        assertEquals(List.of(1L, 2L), logged("failed otherwise", 3, 0));
        assertEquals(List.of(32L), logged("failed", 20, 0));
    }

    @Test
    void shouldCountAnewAfterAQuietMinuteOnly() {
        logged("failed", 3, 0);
        assertEquals(List.of(4L), logged("failed", 1, RepeatedMessages.QUIET_NS));
        assertEquals(List.of(1L, 2L), logged("failed", 3, 2 * RepeatedMessages.QUIET_NS + 1));
    }

    @Test
    void shouldKeepABoundedNumberOfMessages() {
        logged("rare", 1, 0);
        logged("oldest", 1, 0);
        logged("rare", 1, 0);
        for (int i = 1; i < RepeatedMessages.MOST; i++) {
            assertEquals(List.of(1L), logged("message " + i, 1, 0));
        }
        assertEquals(List.of(), logged("rare", 1, 0), "its 3rd occurrence");
        assertEquals(List.of(1L), logged("oldest", 1, 0));
    }

    private List<Long> logged(final String message, final int times, final long nowNs) {
        return LongStream.range(0, times).map(i -> messages.timesToLog(message, nowNs)).filter(count -> count > 0).boxed()
            .toList();
    }
}
