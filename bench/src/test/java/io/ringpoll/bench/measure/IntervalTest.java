package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class IntervalTest {
    private static final int MEASUREMENTS = 400;
    private static final int RUNS = 15;

    @Test
    void shouldContainTheTrueMedianInAboutNineteenOfTwentyMeasurements() {
        final SplittableRandom random = new SplittableRandom(5);
        int contains = 0;
        for (int i = 0; i < MEASUREMENTS; i++) {
            final double[] ratios = new double[RUNS];
            for (int run = 0; run < RUNS; run++) {
                // A skewed distribution with the median 1, as of costs that only disturbances increase.
                ratios[run] = Math.exp(random.nextGaussian() * 0.1);
            }
            contains += Interval.ofMedian(ratios).contains(1) ? 1 : 0;
        }
        final double share = contains / (double) MEASUREMENTS;
        assertTrue(share > 0.90 && share < 0.99, "contains the median in " + share);
    }

    @Test
    void shouldBeNarrowerWithMoreRuns() {
        final double few = width(8);
        final double many = width(80);
        assertTrue(many < few / 2, few + " " + many);
    }

    @Test
    void shouldGiveTheSameIntervalForTheSameRuns() {
        assertEquals(Interval.ofMedian(1, 5, 2, 4, 3, 6, 7), Interval.ofMedian(1, 5, 2, 4, 3, 6, 7));
    }

    @Test
    void shouldHaveNoEndsForTooFewRuns() {
        assertFalse(Interval.ofMedian(1, 1, 1, 1, 1).isKnown());
        assertTrue(Interval.ofMedian(1, 1, 1, 1, 1).contains(1e9));
        assertTrue(Interval.ofMedian(1, 1, 1, 1, 1, 1).isKnown());
        assertFalse(Interval.of(RUNS, draw -> Double.NaN).isKnown());
    }

    private static double width(final int runs) {
        final SplittableRandom random = new SplittableRandom(3);
        final double[] values = random.doubles(runs).toArray();
        final Interval interval = Interval.ofMedian(values);
        return interval.high() - interval.low();
    }
}
