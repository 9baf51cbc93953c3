package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CreditsTest {
    private static FrameHeader frame(final byte kind, final int credits) {
        return new FrameHeader(kind, (byte) 0, (byte) 0, credits, 0, 0, 0);
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
        credits.onFrame(frame(FrameKind.CREDIT, 1), false);
        assertFalse(credits.isSpent());
    }

    @Test
    void shouldRejectMoreCreditsThanGranted() throws Exception {
        final Credits credits = new Credits(4);
        credits.begin(2);
        credits.spend();
        credits.onFrame(frame(FrameKind.CREDIT, 1), false);
        assertThrows(ProtocolException.class, () -> credits.onFrame(frame(FrameKind.CREDIT, 1), false));
    }

    @Test
    void shouldRejectAFrameWithoutCredit() throws Exception {
        final Credits credits = new Credits(2);
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        credits.onFrame(frame(FrameKind.RELEASE, 0), false);
        // A credit frame costs no credit.
        credits.onFrame(frame(FrameKind.CREDIT, 0), false);
        assertThrows(ProtocolException.class, () -> credits.onFrame(frame(FrameKind.REPLY, 0), false));
    }

    @Test
    void shouldAcceptOneFramePerReturnedCredit() throws Exception {
        final Credits credits = new Credits(2);
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        assertEquals(2, credits.owed());
        credits.onRepaid();
        assertEquals(0, credits.owed());
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        assertThrows(ProtocolException.class, () -> credits.onFrame(frame(FrameKind.REQUEST, 0), false));
    }

    @Test
    void shouldReturnTheCreditOfAMessageThatWaitedWithItsDelivery() throws Exception {
        final Credits credits = new Credits(4);
        credits.onFrame(frame(FrameKind.REQUEST, 0), true);
        assertEquals(0, credits.owed());
        credits.owe();
        assertEquals(1, credits.owed());
    }

    @Test
    void shouldSendACreditFrameWhenHalfTheCreditsAreOwed() throws Exception {
        final Credits credits = new Credits(4);
        assertFalse(credits.isRepaymentDue());
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        assertFalse(credits.isRepaymentDue());
        credits.onFrame(frame(FrameKind.REQUEST, 0), false);
        assertTrue(credits.isRepaymentDue());
        final Credits single = new Credits(1);
        assertFalse(single.isRepaymentDue());
        single.onFrame(frame(FrameKind.REQUEST, 0), false);
        assertTrue(single.isRepaymentDue());
    }
}
