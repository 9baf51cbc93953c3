package io.ringpoll.poller;

import org.agrona.concurrent.NanoClock;

/**
 * The account of the times when the ring is full: how often, how long, and behind which handler.
 *
 * <p>Owned by the polling thread. The clock is read only while the ring is full and once when it no longer is; the counters grow
 * during a stall, so that one that lasts is seen from outside.
 */
final class RingStall {
    private final SlotRing ring;
    private final PollerCounters counters;
    private final NanoClock clock;
    private final RingStallEvent probe = new RingStallEvent();

    private boolean active;
    private long lastNs;
    private RingStallEvent event;

    RingStall(final SlotRing ring, final PollerCounters counters, final NanoClock clock) {
        this.ring = ring;
        this.counters = counters;
        this.clock = clock;
    }

    /** Whether the last claim found the ring full. */
    boolean isActive() {
        return active;
    }

    /** Counts a duty cycle that found the ring full. */
    void onFull() {
        counters.ringFullCycles.incrementRelease();
        final long nowNs = clock.nanoTime();
        if (active) {
            account(nowNs);
        } else {
            active = true;
            lastNs = nowNs;
            counters.ringFullStalls.incrementRelease();
            ring.onHeldBack(0);
            if (probe.isEnabled()) {
                event = new RingStallEvent();
                event.handler = ring.slowest();
                event.begin();
            }
        }
    }

    /** Says that a slot could be claimed again, or never will be. */
    void end() {
        account(clock.nanoTime());
        active = false;
        if (event != null) {
            event.commit();
            event = null;
        }
    }

    private void account(final long nowNs) {
        final long elapsedNs = nowNs - lastNs;
        lastNs = nowNs;
        counters.ringFullNs.getAndAddRelease(elapsedNs);
        ring.onHeldBack(elapsedNs);
    }
}
