package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class StallTrackerTest {
    private final CachedNanoClock clock = new CachedNanoClock();
    private final PollerCounters counters = new PollerCounters(TestCounters.create(), "poller");

    @Test
    void shouldKeepTheLongestDutyCycleAndCountThoseOverTheThreshold() {
        final StallTracker tracker = new StallTracker(clock, counters, 100, 1);
        tracker.restart();
        for (final long cycleNs : new long[]{50, 101, 100, 7000, 20}) {
            clock.advance(cycleNs);
            tracker.onCycle(1);
        }
        assertEquals(7000, counters.dutyCycleMaxNs());
        assertEquals(2, counters.dutyCyclesOver());
    }

    @Test
    void shouldNotCountTheTimeOfASleep() {
        final StallTracker tracker = new StallTracker(clock, counters, 100, 1);
        tracker.restart();
        clock.advance(1_000_000);
        tracker.restart();
        clock.advance(30);
        tracker.onCycle(1);
        assertEquals(30, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldReadTheClockOnceAnInterval() {
        final int[] readings = new int[1];
        final StallTracker tracker = new StallTracker(() -> ++readings[0], counters, 100, 64);
        tracker.restart();
        for (int i = 0; i < 640; i++) {
            tracker.onCycle(i);
        }
        assertEquals(11, readings[0]);
    }

    @Test
    void shouldReadNoClockWhenItIsSwitchedOff() {
        final StallTracker tracker = new StallTracker(
            () -> {
                throw new AssertionError("the clock was read");
            },
            counters, -1, 1);
        tracker.restart();
        for (int i = 0; i < 1000; i++) {
            tracker.onCycle(i);
        }
        assertEquals(0, counters.dutyCycleMaxNs());
    }
}
