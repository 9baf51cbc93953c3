package io.ringpoll.verify.torture.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RoomTest {
    @Test
    void shouldAllowTheRefusalOfAnEmptySideWhenTheOtherHasFilledTheSharedCompletionQueue() {
        final Room shared = new Room(2, true);
        assertTrue(shared.isCertain(1, 3));
        assertFalse(shared.isCertain(1, 4));
        assertFalse(shared.isCertain(0, 5));
        assertFalse(shared.isCertain(2, 0));
    }

    @Test
    void shouldNotAllowItWithACompletionQueueForEachSide() {
        final Room own = new Room(2, false);
        assertTrue(own.isCertain(1, 100));
        assertFalse(own.isCertain(2, 0));
    }

    @Test
    void shouldCountARequestThatEndsDuringThePostOfTheOtherSide() {
        final Violations violations = new Violations();
        final Ledger sends = new Ledger("sends", 8, violations);
        for (int i = 0; i < 3; i++) {
            sends.onAccepted();
        }
        final int ended = sends.ended();
        sends.onEnded(0, CompletionPath.SEND_WRITE, "a handler");
        assertEquals(2, sends.open());
        assertEquals(4, sends.mostOpenSince(ended));
        assertEquals(List.of(), violations.lines());
    }
}
