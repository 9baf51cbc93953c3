package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node's bounds on the requests of its clients and on its memory for long messages. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AdmissionTest {
    private static final int MAX_REQUESTS = 3;
    private static final int MAX_BYTES = 100;
    private static final int MAX_LANDING_BYTES = 50;
    private static final int MAX_REPLY_BYTES = 40;

    private final Admission admission =
        new Admission(PeerBounds.DEFAULT.withQueues(1, 1, MAX_REQUESTS, MAX_BYTES, MAX_LANDING_BYTES)
            .withReplies(1, MAX_REPLY_BYTES));

    @Test
    void shouldBeOpenBelowTheNumberOfRequests() {
        for (int i = 0; i < MAX_REQUESTS; i++) {
            assertTrue(admission.isOpen());
            admission.enter(0);
            assertEquals(i + 1, admission.requests());
        }
        assertFalse(admission.isOpen());
        admission.leave(0);
        assertTrue(admission.isOpen());
        assertEquals(MAX_REQUESTS - 1, admission.requests());
    }

    @Test
    void shouldBeOpenBelowTheLengthOfRequests() {
        admission.enter(MAX_BYTES - 1);
        assertTrue(admission.isOpen());
        admission.enter(1);
        assertFalse(admission.isOpen());
        admission.leave(1);
        assertTrue(admission.isOpen());
    }

    @Test
    void shouldTakeLandingMemoryUpToItsBound() {
        assertTrue(admission.land(MAX_LANDING_BYTES - 1));
        assertFalse(admission.land(2));
        assertTrue(admission.land(1));
        assertFalse(admission.land(1));
        admission.landed(1);
        assertTrue(admission.land(1));
    }

    @Test
    void shouldTakeOneMessageOverTheBoundAtATime() {
        assertTrue(admission.land(MAX_LANDING_BYTES + 1));
        assertFalse(admission.land(1));
        admission.landed(MAX_LANDING_BYTES + 1);
        assertTrue(admission.land(1));
        assertFalse(admission.land(MAX_LANDING_BYTES));
    }

    @Test
    void shouldTakeMemoryForRepliesUpToItsBoundOrForOne() {
        assertTrue(admission.reply(MAX_REPLY_BYTES + 1));
        assertFalse(admission.reply(1));
        admission.replied(MAX_REPLY_BYTES + 1);
        assertTrue(admission.reply(MAX_REPLY_BYTES));
        assertFalse(admission.reply(1));
        assertEquals(MAX_REPLY_BYTES, admission.replyBytes());
        // Neither of requests nor of messages that are being received.
        assertTrue(admission.isOpen());
        assertTrue(admission.land(MAX_LANDING_BYTES));
    }
}
