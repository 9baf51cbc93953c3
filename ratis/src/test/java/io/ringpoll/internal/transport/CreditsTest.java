package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 10, unit = TimeUnit.SECONDS)
class CreditsTest {
    private static FrameHeader frame(final byte kind, final int credits) {
        return new FrameHeader(kind, (byte) 0, (byte) 0, credits, 0, 0, 0);
    }

    private static FrameHeader longMessage() {
        return new FrameHeader(FrameKind.REQUEST, (byte) 1, FrameHeader.FLAG_RENDEZVOUS, 0, 0, 20, 5000);
    }

    @Test
    void shouldSpendOneCreditPerFrame() throws Exception {
        final Credits credits = new Credits(4);
        assertTrue(credits.isSpent(), "before the peer has introduced itself");
        credits.begin(2);
        credits.spend();
        assertFalse(credits.isSpent());
        credits.spend();
        assertTrue(credits.isSpent());
        credits.onFrame(frame(FrameKind.CREDIT, 1));
        assertFalse(credits.isSpent());
    }

    @Test
    void shouldRejectMoreCreditsThanGranted() throws Exception {
        final Credits credits = new Credits(4);
        credits.begin(2);
        credits.spend();
        credits.onFrame(frame(FrameKind.CREDIT, 1));
        assertThrows(ProtocolException.class, () -> credits.onFrame(frame(FrameKind.CREDIT, 1)));
    }

    @Test
    void shouldRejectAFrameWithoutCredit() throws Exception {
        final Credits credits = new Credits(2);
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        credits.onFrame(frame(FrameKind.RELEASE, 0));
        // A credit frame costs no credit.
        credits.onFrame(frame(FrameKind.CREDIT, 0));
        assertThrows(ProtocolException.class, () -> credits.onFrame(frame(FrameKind.REPLY, 0)));
    }

    @Test
    void shouldAcceptOneFramePerReturnedCredit() throws Exception {
        final Credits credits = new Credits(2);
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        assertEquals(2, credits.owed());
        credits.onRepaid();
        assertEquals(0, credits.owed());
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        assertThrows(ProtocolException.class, () -> credits.onFrame(frame(FrameKind.REQUEST, 0)));
    }

    @Test
    void shouldReturnTheCreditOfALongMessageAfterItsRead() throws Exception {
        final Credits credits = new Credits(4);
        credits.onFrame(longMessage());
        assertEquals(0, credits.owed());
        credits.owe();
        assertEquals(1, credits.owed());
    }

    @Test
    void shouldSendACreditFrameWhenHalfTheCreditsAreOwed() throws Exception {
        final Credits credits = new Credits(4);
        assertFalse(credits.isRepaymentDue());
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        assertFalse(credits.isRepaymentDue());
        credits.onFrame(frame(FrameKind.REQUEST, 0));
        assertTrue(credits.isRepaymentDue());
        final Credits single = new Credits(1);
        assertFalse(single.isRepaymentDue());
        single.onFrame(frame(FrameKind.REQUEST, 0));
        assertTrue(single.isRepaymentDue());
    }
}
