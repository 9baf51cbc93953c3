package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StallTrackerTest {
    private static final long THRESHOLD_NS = 1_000_000;
    private static final long EMPTY_NS = 15;

    private final CachedNanoClock clock = new CachedNanoClock();
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private long cycles;
    private int readings;

    @Test
    void shouldRecordTheLongestDutyCycleAndCountThoseOverTheThreshold() {
        final StallTracker tracker = tracker(100, 1);
        for (final long cycleNs : new long[]{50, 101, 100, 7000, 20}) {
            cycle(tracker, cycleNs, false);
        }
        assertEquals(7000, counters.dutyCycleMaxNs());
        assertEquals(2, counters.dutyCyclesOver());
    }

    @Test
    void shouldNotMeasureASleep() {
        final StallTracker tracker = tracker(100, 1);
        clock.advance(1_000_000);
        tracker.restart(cycles);
        cycle(tracker, 30, false);
        assertEquals(30, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldCountALongDutyCycleAfterASleep() {
        final StallTracker tracker = tracker(100, 1);
        cycle(tracker, 30, false);
        tracker.restart(cycles);
        cycle(tracker, 500, false);
        assertEquals(500, counters.dutyCycleMaxNs());
        assertEquals(1, counters.dutyCyclesOver());
    }

    @Test
    void shouldReadTheClockOncePerWindowOfShortDutyCycles() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_000, EMPTY_NS, false);
        readings = 0;
        cycles(tracker, 6_400, EMPTY_NS, false);
        assertEquals(100, readings);
        assertEquals(EMPTY_NS, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldReportTheDurationOfADutyCycleNotOfAWindow() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_000, 30_000, true);
        assertEquals(30_000, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldReportTheDurationOfOneLongDutyCycleAmongShortOnes() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        for (int burst = 0; burst < 100; burst++) {
            cycles(tracker, 1 + burst, EMPTY_NS, false);
            cycles(tracker, 1 + burst % 7, 30_000, true);
        }
        assertBetween(30_000, 31_000, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldDetectAStallInAWindowOfShortDutyCycles() {
        for (final boolean worked : new boolean[]{true, false}) {
            final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
            final long before = counters.dutyCyclesOver();
            cycles(tracker, 10_000, EMPTY_NS, worked);
            cycle(tracker, 2_000_000, worked);
            cycles(tracker, 100, EMPTY_NS, worked);
            assertBetween(2_000_000, 2_001_000, counters.dutyCycleMaxNs());
            assertEquals(before + 1, counters.dutyCyclesOver());
        }
    }

    @Test
    void shouldNotReportGrowingDutyCyclesAsAStall() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_000, EMPTY_NS, true);
        cycles(tracker, 1_000, 30_000, true);
        assertEquals(30_000, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
        // As after the addition of many queues.
        cycles(tracker, 10_000, EMPTY_NS, false);
        cycles(tracker, 1_000, 40_000, false);
        assertEquals(40_000, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldNotReportLongDutyCyclesAsAStallWhenTheNextIsSlightlyShorter() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_240, EMPTY_NS, true);
        readings = 0;
        while (readings == 0) {
            cycle(tracker, 30_000, true);
        }
        cycles(tracker, 100, 20_000, true);
        assertBetween(25_000, 30_000, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldNotReportLongDutyCyclesBeforeASleepAsAStall() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_240, EMPTY_NS, false);
        readings = 0;
        while (readings == 0) {
            cycle(tracker, 30_000, false);
        }
        tracker.restart(cycles);
        assertBetween(25_000, 30_000, counters.dutyCycleMaxNs());
        assertEquals(0, counters.dutyCyclesOver());
    }

    @Test
    void shouldKeepWindowsBetweenHalfTheLongTimeAndAllOfIt() {
        for (final long eachNs : new long[]{2_000, 4_000}) {
            for (final boolean worked : new boolean[]{true, false}) {
                final StallTracker tracker = trackerInWindowsOfTwo(worked);
                cycles(tracker, 10, eachNs, worked);
                assertEquals(5, readings, "two cycles of " + eachNs + " ns");
                assertEquals(eachNs, counters.dutyCycleMaxNs());
            }
        }
    }

    @Test
    void shouldMeasureAnIdleCycleAfterASingleOneWithWorkAndTwoAfterTwo() {
        final StallTracker tracker = trackerInWindowsOfTwo(true);
        cycle(tracker, EMPTY_NS, false);
        assertEquals(1, readings);
        final StallTracker second = trackerInWindowsOfTwo(true);
        cycles(second, 2, EMPTY_NS, true);
        cycle(second, EMPTY_NS, false);
        assertEquals(1, readings);
        cycle(second, EMPTY_NS, false);
        assertEquals(2, readings);
    }

    @Test
    void shouldMeasureTheCycleAfterALongWindowAloneForBothKinds() {
        for (final boolean worked : new boolean[]{true, false}) {
            final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
            cycles(tracker, 20_000, EMPTY_NS, !worked);
            cycles(tracker, 10_000, EMPTY_NS, worked);
            cycle(tracker, 5_000_000, worked);
            readings = 0;
            while (readings == 0) {
                cycle(tracker, EMPTY_NS, worked);
            }
            cycles(tracker, 1_000, EMPTY_NS, !worked);
            assertBetween(5_000_000, 5_001_000, counters.dutyCycleMaxNs());
        }
    }

    @Test
    void shouldMeasureManyIdleCyclesTogetherThoughThoseWithWorkAreLong() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_000, EMPTY_NS, false);
        cycle(tracker, 30_000, true);
        readings = 0;
        cycles(tracker, StallTracker.MAX_WINDOW - 1, EMPTY_NS, false);
        assertEquals(0, readings);
    }

    @Test
    void shouldReportTheMeanOfShortCyclesOfBothKinds() {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycles(tracker, 10_000, EMPTY_NS, false);
        readings = 0;
        while (readings == 0) {
            cycle(tracker, EMPTY_NS, false);
        }
        cycles(tracker, 20, EMPTY_NS, false);
        cycle(tracker, EMPTY_NS, true);
        assertEquals(2, readings);
        assertEquals(EMPTY_NS, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldReportALongWindowAsAStallIfTheNextCycleIsUpToHalfOfItsMean() {
        final StallTracker tracker = trackerInWindowsOfTwo(false);
        cycle(tracker, 10, false);
        cycle(tracker, 39_990, false);
        cycle(tracker, 10_000, false);
        assertEquals(30_000, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldReportALongWindowAsLongCyclesIfTheNextCycleIsMoreThanHalfOfItsMean() {
        final StallTracker tracker = trackerInWindowsOfTwo(false);
        cycle(tracker, 10, false);
        cycle(tracker, 39_990, false);
        cycle(tracker, 10_001, false);
        assertEquals(20_000, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldNotMeasureASleepWithoutThreshold() {
        final StallTracker tracker = tracker(0, 1);
        clock.advance(1_000_000);
        tracker.restart(cycles);
        cycle(tracker, 30, false);
        assertEquals(30, counters.dutyCycleMaxNs());
    }

    @Test
    void shouldMeasureEachDutyCycleWithAShortThreshold() {
        final StallTracker tracker = tracker(0, StallTracker.MAX_WINDOW);
        cycles(tracker, 1_000, EMPTY_NS, false);
        assertEquals(1_000, counters.dutyCyclesOver());
    }

    @Test
    void shouldNotReadTheClockWhenSwitchedOff() {
        final StallTracker tracker = tracker(-1, 1);
        cycles(tracker, 1_000, EMPTY_NS, false);
        tracker.restart(cycles);
        cycles(tracker, 1_000, EMPTY_NS, true);
        assertEquals(0, readings);
        assertEquals(0, counters.dutyCycleMaxNs());
    }

    /** After one cycle, which was short; readings are counted from here. */
    private StallTracker trackerInWindowsOfTwo(final boolean worked) {
        final StallTracker tracker = tracker(THRESHOLD_NS, StallTracker.MAX_WINDOW);
        cycle(tracker, EMPTY_NS, worked);
        readings = 0;
        return tracker;
    }

    private StallTracker tracker(final long thresholdNs, final int maxWindow) {
        final StallTracker tracker = new StallTracker(
            () -> {
                readings++;
                return clock.nanoTime();
            },
            counters, thresholdNs, maxWindow);
        tracker.restart(cycles);
        return tracker;
    }

    private void cycles(final StallTracker tracker, final int number, final long eachNs, final boolean worked) {
        for (int i = 0; i < number; i++) {
            cycle(tracker, eachNs, worked);
        }
    }

    private void cycle(final StallTracker tracker, final long elapsedNs, final boolean worked) {
        clock.advance(elapsedNs);
        tracker.onCycle(++cycles, worked);
    }

    private static void assertBetween(final long least, final long most, final long value) {
        assertTrue(least <= value && value <= most, value + " is not within " + least + " and " + most);
    }
}
