package io.ringpoll.verify.torture;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ModelTest {
    private static final int SENT = 18;
    private static final int POSTED = 20;

    @Test
    void shouldExpectEachMessageBeforeTheFirstFailure() {
        for (final boolean flushed : new boolean[] {false, true}) {
            for (final boolean betweenProcesses : new boolean[] {false, true}) {
                assertTrue(Model.mayReceive(SENT, SENT, POSTED, flushed, betweenProcesses));
                assertFalse(Model.mayReceive(SENT - 1, SENT, POSTED, flushed, betweenProcesses));
            }
        }
    }

    @Test
    void shouldPermitMessagesOfFlushedRequestsBetweenProcesses() {
        assertTrue(Model.mayReceive(SENT + 1, SENT, POSTED, true, true));
        assertTrue(Model.mayReceive(POSTED, SENT, POSTED, true, true));
        assertFalse(Model.mayReceive(POSTED + 1, SENT, POSTED, true, true));
    }

    @Test
    void shouldPermitNoMessageBehindAFailureOtherwise() {
        assertFalse(Model.mayReceive(SENT + 1, SENT, POSTED, true, false));
        assertFalse(Model.mayReceive(SENT + 1, SENT, POSTED, false, true));
    }
}
