package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.Sequence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The gating sequence of a handler that holds slots. */
@Timeout(60)
class HeldSlotsTest {
    private static final int CAPACITY = 8;

    private final Sequence passed = new Sequence(-1);
    private final HeldSlots held = new HeldSlots(passed, CAPACITY, 2);

    @Test
    void shouldFollowTheHandlerWithoutHeldSlots() {
        assertEquals(-1, held.get());
        passed.set(5);
        assertEquals(5, held.get());
    }

    @Test
    void shouldNotExceedTheHandlersSequenceForALaterHeldSlot() {
        passed.set(4);
        assertEquals(4, held.get());
        assertTrue(held.hold(7));
        assertEquals(4, held.get());
        passed.set(6);
        assertEquals(6, held.get());
        passed.set(12);
        assertEquals(6, held.get());
    }

    @Test
    void shouldAdvanceToTheNextHeldSlotForAnyOrderOfReleases() {
        assertTrue(held.hold(2));
        assertTrue(held.hold(5));
        assertFalse(held.hold(6), "more than allowed");
        passed.set(7);
        assertEquals(1, held.get());
        assertTrue(held.release(5));
        assertEquals(1, held.get());
        assertTrue(held.hold(8));
        assertTrue(held.release(2));
        assertEquals(7, held.get());
        passed.set(9);
        assertEquals(7, held.get());
        assertTrue(held.release(8));
        assertEquals(9, held.get());
        assertEquals(0, held.count());
    }

    /** The sequence before the first marks a free slot. */
    @Test
    void shouldNotHoldTheSequenceBeforeTheFirst() {
        assertFalse(held.isHeld(-1));
        assertFalse(held.release(-1));
        assertEquals(0, held.count());
        assertTrue(held.hold(2));
        passed.set(7);
        assertFalse(held.release(-1));
        assertEquals(1, held.get(), "a held slot would be overwritten");
    }

    @Test
    void shouldIdentifyASlotBySequenceNotByIndex() {
        assertTrue(held.hold(3));
        assertTrue(held.hold(3));
        assertEquals(1, held.count());
        assertTrue(held.isHeld(3));
        assertFalse(held.isHeld(3 + CAPACITY));
        assertFalse(held.release(3 + CAPACITY));
        assertFalse(held.release(4));
        assertTrue(held.release(3));
        assertFalse(held.release(3));
        assertFalse(held.isHeld(3));
        assertEquals(0, held.count());
    }
}
