package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 10, unit = TimeUnit.SECONDS)
class ConnectionEndTest {
    private final ConnectionEnd end = new ConnectionEnd();

    @Test
    void shouldKeepTheFirstReason() {
        assertNull(end.reason());
        assertTrue(end.request(DisconnectReason.CLOSED, "first"));
        assertFalse(end.request(DisconnectReason.FAILED, "second"));
        end.explain(DisconnectReason.FAILED, "third");
        assertEquals(DisconnectReason.CLOSED, end.reason());
        assertEquals("first", end.detail());
    }

    @Test
    void shouldExplainTheLossOfAPeerByACompletionThatIsPolledAfterTheEvent() {
        end.explain(DisconnectReason.FAILED, "nothing ends");
        assertNull(end.reason());
        assertTrue(end.request(DisconnectReason.PEER_LOST, "event"));
        end.explain(DisconnectReason.PEER_LOST, "flushed");
        assertEquals("event", end.detail());
        end.explain(DisconnectReason.FAILED, "work completion");
        assertEquals(DisconnectReason.FAILED, end.reason());
        assertEquals("work completion", end.detail());
    }

    @Test
    void shouldDeliverNothingAfterAViolationThatIsPolledAfterTheEvent() {
        assertTrue(end.request(DisconnectReason.PEER_LOST, "event"));
        end.explain(DisconnectReason.PROTOCOL_VIOLATION, "a message without credit");
        end.onGoodbye();
        assertFalse(end.deliversReceived());
        assertEquals(DisconnectReason.PROTOCOL_VIOLATION, end.conclude(false));
    }

    @Test
    void shouldReportThatThePeerHasClosedIfTheEventCameFirst() {
        assertTrue(end.request(DisconnectReason.PEER_LOST, "event"));
        assertTrue(end.deliversReceived());
        assertEquals(DisconnectReason.PEER_LOST, end.conclude(false));
        assertEquals("event", end.detail());
        end.onGoodbye();
        assertEquals(DisconnectReason.PEER_CLOSED, end.conclude(true), "refused by the listener");
        assertEquals("", end.detail(), "the peer was not lost");
    }

    @Test
    void shouldReportThatThePeerHasClosedIfNothingWasDroppedAfterTheOwnClose() {
        closeAfterTheEvent();
        end.onDropped(Immediate.CREDITS);
        assertEquals(DisconnectReason.PEER_CLOSED, end.conclude(false));
    }

    @Test
    void shouldReportItsOwnCloseIfAMessageWasDropped() {
        closeAfterTheEvent();
        end.onDropped(Immediate.MESSAGE);
        assertEquals(DisconnectReason.CLOSED, end.conclude(false));
        assertEquals("", end.detail());
    }

    @Test
    void shouldReportItsOwnCloseIfAMessageWaits() {
        closeAfterTheEvent();
        assertEquals(DisconnectReason.CLOSED, end.conclude(true));
    }

    private void closeAfterTheEvent() {
        assertTrue(end.request(DisconnectReason.PEER_LOST, "event"));
        end.onGoodbye();
        assertFalse(end.request(DisconnectReason.CLOSED, ""));
        assertFalse(end.deliversReceived());
    }

    @Test
    void shouldSayGoodbyeUnlessThePeerHasGone() {
        assertFalse(end.saysGoodbye());
        assertTrue(end.request(DisconnectReason.CLOSED, ""));
        assertTrue(end.saysGoodbye());
        assertFalse(end.request(DisconnectReason.PEER_LOST, "event"));
        assertFalse(end.saysGoodbye());
    }
}
