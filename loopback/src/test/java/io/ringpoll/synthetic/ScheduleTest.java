package io.ringpoll.synthetic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ScheduleTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    @Test
    void shouldRepeatOneTimeForAWholeInterval() {
        final Schedule schedule = Schedule.rate(1_000_000);
        assertEquals(1_000, schedule.periodNs());
        assertArrayEquals(new long[] {0}, schedule.dueNs());
    }

    @Test
    void shouldSpreadABrokenIntervalOverAPeriodThatIsWhole() {
        final Schedule schedule = Schedule.rate(3_000_000);
        assertEquals(1_000, schedule.periodNs());
        assertArrayEquals(new long[] {0, 333, 666}, schedule.dueNs());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 7, 999_999, 1_000_000, 3_333_333, 123_456_789, 1_000_000_000})
    void shouldKeepToTheRate(final long rate) {
        final Schedule schedule = Schedule.rate(rate);
        final double actual = schedule.dueNs().length * (double) SECOND_NS / schedule.periodNs();
        assertEquals(rate, actual, rate * 1e-5);
    }

    @Test
    void shouldSendBurstsTogetherAtTheMeanRate() {
        final Schedule schedule = Schedule.bursts(1_000_000, 4);
        assertEquals(4_000, schedule.periodNs());
        assertArrayEquals(new long[] {0, 0, 0, 0}, schedule.dueNs());
        assertEquals(1_000_000, schedule.dueWithin(SECOND_NS));
    }

    @Test
    void shouldRepeatTheFewestWholeBurstsThatTakeWholeNanoseconds() {
        final Schedule schedule = Schedule.bursts(6_000_000, 6);
        assertEquals(1_000, schedule.periodNs());
        assertArrayEquals(new long[6], schedule.dueNs());
        assertEquals(Schedule.MAX_LENGTH, Schedule.bursts(1_000, Schedule.MAX_LENGTH).dueNs().length);
    }

    @Test
    void shouldMakeRandomTimesAtTheMeanRate() {
        final Schedule schedule = Schedule.random(1_000_000, 1);
        final long[] times = schedule.dueNs();
        assertEquals(1_000L * times.length, schedule.periodNs());
        // Distances of a Poisson process: one in e is above the mean.
        int above = 0;
        for (int i = 1; i < times.length; i++) {
            assertTrue(times[i] >= times[i - 1]);
            above += times[i] - times[i - 1] > 1_000 ? 1 : 0;
        }
        assertEquals(1 / Math.E, above / (double) times.length, 0.01);
    }

    @Test
    void shouldCountWhatIsDueWithinATime() {
        assertEquals(3, Schedule.rate(1_000).dueWithin(2_000_001));
        assertEquals(2, Schedule.rate(1_000).dueWithin(2_000_000));
    }

    @Test
    void shouldRefuseRatesAndBurstsThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> Schedule.rate(0));
        assertThrows(IllegalArgumentException.class, () -> Schedule.rate(SECOND_NS + 1));
        assertThrows(IllegalArgumentException.class, () -> Schedule.bursts(1_000, 0));
        assertThrows(IllegalArgumentException.class, () -> Schedule.bursts(1_000, Schedule.MAX_LENGTH + 1));
    }
}
