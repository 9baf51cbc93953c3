package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CreditsTest {
    private final Credits credits = new Credits();

    @Test
    void shouldHaveNoCreditBeforeThePeerHasGrantedSome() {
        credits.begin(4, 0);
        assertEquals(0, credits.own());
        credits.beginOwn(2);
        credits.spend(2);
        assertEquals(0, credits.own());
        assertTrue(credits.add(1));
        assertEquals(1, credits.own());
    }

    @Test
    void shouldRefuseMoreCreditsThanThePeerHasGranted() {
        credits.begin(4, 2);
        credits.spend(1);
        assertTrue(credits.add(1));
        assertFalse(credits.add(1));
    }

    @Test
    void shouldRefuseAMessageOfThePeerWithoutCredit() {
        credits.begin(2, 2);
        assertTrue(credits.spendPeers());
        assertTrue(credits.spendPeers());
        assertFalse(credits.spendPeers());
    }

    @Test
    void shouldAcceptAMessageForEachReturnedCredit() {
        credits.begin(2, 2);
        credits.spendPeers();
        credits.spendPeers();
        credits.owe(2);
        assertEquals(2, credits.owed());
        credits.onReturned();
        assertEquals(0, credits.owed());
        assertTrue(credits.spendPeers());
        assertTrue(credits.spendPeers());
        assertFalse(credits.spendPeers());
    }

    @Test
    void shouldTellWhenHalfOfTheCreditsAreOwed() {
        credits.begin(4, 4);
        credits.owe(1);
        assertFalse(credits.isHalfOwed());
        credits.owe(1);
        assertTrue(credits.isHalfOwed());
        credits.begin(1, 1);
        credits.onReturned();
        assertFalse(credits.isHalfOwed());
        credits.owe(1);
        assertTrue(credits.isHalfOwed());
    }
}
