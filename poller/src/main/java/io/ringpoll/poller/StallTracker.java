package io.ringpoll.poller;

import org.agrona.concurrent.NanoClock;

/**
 * The longest duty cycle, and how many took longer than a threshold: what preemption, a page fault or a slow call into C does to
 * the poller shows here.
 *
 * <p>Owned by the polling thread. The clock is read once in a number of cycles, since reading it costs several times what an
 * empty poll does: what is measured is the time that these cycles took together, of which a single long one is nearly all.
 */
final class StallTracker {
    private final NanoClock clock;
    private final PollerCounters counters;
    private final long thresholdNs;
    private final long mask;

    /** Changes only when the clock is read: on the other cycles nothing here is written. */
    private long lastNs;

    /**
     * Creates a tracker.
     *
     * @param thresholdNs above which a cycle is counted; negative to read no clock at all
     * @param interval    number of cycles between two readings of the clock, a power of two
     */
    StallTracker(final NanoClock clock, final PollerCounters counters, final long thresholdNs, final int interval) {
        this.clock = clock;
        this.counters = counters;
        this.thresholdNs = thresholdNs;
        this.mask = interval - 1;
    }

    /** Begins a first cycle, or one after a time that is none of the poller's: a sleep. */
    void restart() {
        if (thresholdNs >= 0) {
            lastNs = clock.nanoTime();
        }
    }

    /**
     * Ends a cycle and begins the next.
     *
     * @param cycles so far
     */
    void onCycle(final long cycles) {
        if ((cycles & mask) == 0 && thresholdNs >= 0) {
            measure();
        }
    }

    private void measure() {
        final long nowNs = clock.nanoTime();
        final long elapsedNs = nowNs - lastNs;
        lastNs = nowNs;
        if (elapsedNs > counters.dutyCycleMaxNs.getPlain()) {
            counters.dutyCycleMaxNs.setRelease(elapsedNs);
        }
        if (elapsedNs > thresholdNs) {
            counters.dutyCyclesOver.incrementRelease();
        }
    }
}
