package io.ringpoll.internal.poller;

import org.agrona.concurrent.NanoClock;

/**
 * Measures ring-full stalls: their number, their duration, and the handler that caused them.
 *
 * <p>Owned by the polling thread. The clock is read only while the ring is full, and once at the end of a stall. The counters are
 * updated during a stall, so that a lasting stall is visible from outside.
 */
final class RingStall {
    private final RingHandlers handlers;
    private final PollerCounterSet counters;
    private final NanoClock clock;
    private final RingStallEvent probe = new RingStallEvent();

    private boolean active;
    private long lastNs;
    private RingStallEvent event;

    RingStall(final RingHandlers handlers, final PollerCounterSet counters, final NanoClock clock) {
        this.handlers = handlers;
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
            addElapsed(nowNs);
        } else {
            active = true;
            lastNs = nowNs;
            counters.ringFullStalls.incrementRelease();
            handlers.onStall(0);
            if (probe.isEnabled()) {
                event = new RingStallEvent();
                event.handler = handlers.slowestHandler();
                event.begin();
            }
        }
    }

    /** Ends a stall: a slot could be claimed again, or never will be. */
    void end() {
        addElapsed(clock.nanoTime());
        active = false;
        if (event != null) {
            event.commit();
            event = null;
        }
    }

    private void addElapsed(final long nowNs) {
        final long elapsedNs = nowNs - lastNs;
        lastNs = nowNs;
        counters.ringFullNs.getAndAddRelease(elapsedNs);
        handlers.onStall(elapsedNs);
    }
}
