package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The replies of one peer that wait. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class IntakeTest {
    private static final int TIMEOUT_MS = 500;
    private static final int TICK_MS = 100;
    private static final PeerBounds BOUNDS = PeerBounds.DEFAULT.withReplies(TIMEOUT_MS, 1_000);

    private final Admission admission = new Admission(BOUNDS);
    private final Intake intake = new Intake(admission, BOUNDS);
    private long nowNs = System.nanoTime();

    private Intake.Ticket begin() {
        return intake.begin(1, false, PeerRole.CLIENT);
    }

    private boolean tick(final int elapsedMs) {
        nowNs += TimeUnit.MILLISECONDS.toNanos(elapsedMs);
        return intake.isOverdue(nowNs);
    }

    private boolean isOverdueWithin(final int elapsedMs) {
        boolean isOverdue = false;
        for (int i = 0; i < elapsedMs; i += TICK_MS) {
            isOverdue = tick(TICK_MS);
        }
        return isOverdue;
    }

    @Test
    void shouldBeOverdueWhenTheFirstReplyHasWaitedForTheTimeout() {
        tick(TICK_MS);
        begin().onWaiting();
        assertFalse(isOverdueWithin(TIMEOUT_MS - TICK_MS));
        begin().onWaiting();
        assertTrue(tick(TICK_MS));
    }

    @Test
    void shouldForgetAReplyThatIsRead() {
        tick(TICK_MS);
        final Intake.Ticket first = begin();
        first.onWaiting();
        assertFalse(isOverdueWithin(TIMEOUT_MS - TICK_MS));
        begin().onWaiting();
        first.end();
        assertFalse(isOverdueWithin(TIMEOUT_MS - TICK_MS));
        assertTrue(tick(TICK_MS));
    }

    @Test
    void shouldWaitFromTheQueueToTheRead() {
        tick(TICK_MS);
        final Intake.Ticket reply = begin();
        reply.onWaiting();
        assertFalse(isOverdueWithin(TIMEOUT_MS - TICK_MS));
        // It is posted, and has to be read.
        reply.onWaiting();
        assertTrue(tick(TICK_MS));
    }

    @Test
    void shouldNotCountThePausesOfThisProcess() {
        tick(TICK_MS);
        begin().onWaiting();
        assertFalse(tick((int) TimeUnit.HOURS.toMillis(1)));
        assertTrue(isOverdueWithin(TIMEOUT_MS));
    }

    @Test
    void shouldHaveNoOverdueReplyWithoutARequestThatIsAnswered() {
        begin();
        assertFalse(isOverdueWithin(2 * TIMEOUT_MS));
    }

    @Test
    void shouldReplaceAndReturnTheMemoryOfAReply() {
        final Intake.Ticket reply = begin();
        assertTrue(reply.takeRegion(900));
        assertFalse(begin().takeRegion(200));
        assertTrue(reply.takeRegion(0));
        assertTrue(begin().takeRegion(200));
        assertTrue(reply.takeRegion(800));
        assertEquals(1_000, admission.replyBytes());
        // A server's memory is not that of the clients.
        assertTrue(intake.begin(1, false, PeerRole.SERVER).takeRegion(5_000));
        assertEquals(1_000, admission.replyBytes());
        reply.end();
        reply.end();
        assertEquals(200, admission.replyBytes());
    }
}
