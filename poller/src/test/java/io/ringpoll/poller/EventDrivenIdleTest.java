package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The strategy as a user sees it; how a poller sleeps is in {@code EventSleeperTest}. */
@Timeout(60)
class EventDrivenIdleTest {
    @Test
    void shouldHoldItsTimes() {
        final EventDrivenIdle idle = new EventDrivenIdle(0, 1);
        assertEquals(0, idle.spinNs());
        assertEquals(1, idle.maxSleepNs());
        assertEquals(EventDrivenIdle.DEFAULT_SPIN_NS, new EventDrivenIdle().spinNs());
        assertEquals(EventDrivenIdle.DEFAULT_MAX_SLEEP_NS, new EventDrivenIdle().maxSleepNs());
        assertEquals("event-driven", idle.alias());
    }

    @Test
    void shouldRejectANegativeSpinTimeAndASleepWithoutTime() {
        assertThrows(IllegalArgumentException.class, () -> new EventDrivenIdle(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> new EventDrivenIdle(0, 0));
    }

    @Test
    void shouldRefuseToIdleWithoutAPoller() {
        final EventDrivenIdle idle = new EventDrivenIdle();
        idle.reset();
        assertTrue(assertThrows(IllegalStateException.class, idle::idle).getMessage().contains("give it to a pipeline"));
        assertThrows(IllegalStateException.class, () -> idle.idle(1));
    }
}
