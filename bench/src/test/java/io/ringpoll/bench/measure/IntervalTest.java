package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.latency.PooledLatencies;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class IntervalTest {
    private static final int MEASUREMENTS = 400;
    private static final int RUNS = 15;

    /** A distribution with the median 1. */
    private interface Distribution {
        double next(SplittableRandom random);
    }

    private static final Distribution SKEWED = random -> Math.exp(random.nextGaussian() * 0.1);
    private static final Distribution SPIKES = random -> Math.exp(random.nextGaussian() * 0.02
        + (random.nextInt(5) == 0 ? (random.nextBoolean() ? 1 : -1) * (0.3 + random.nextDouble()) : 0));
    private static final Distribution TWO_REGIMES = random -> Math.exp((random.nextBoolean() ? 0.3 : -0.3)
        + random.nextGaussian() * 0.05);

    @ParameterizedTest
    @ValueSource(ints = {6, 7, 8, 9, 10, 15, 30})
    void shouldContainTheTrueMedianInAtLeastAboutNineteenOfTwentyMeasurements(final int runs) {
        final List<Distribution> distributions = List.of(SKEWED, SPIKES, TWO_REGIMES);
        final SplittableRandom random = new SplittableRandom(5);
        int contains = 0;
        for (int i = 0; i < MEASUREMENTS; i++) {
            for (final Distribution ratios : distributions) {
                contains += Interval.ofMedian(DoubleStream.generate(() -> ratios.next(random)).limit(runs).toArray())
                    .contains(1) ? 1 : 0;
            }
        }
        final double share = contains / (double) (MEASUREMENTS * distributions.size());
        // By chance, the share of 1,200 measurements is up to 0.02 below the true one.
        assertTrue(share >= 0.935 && share < 0.995, runs + " runs: contains the median in " + share);
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 8, 10})
    void shouldContainOneForPercentilesOfTheSameTurnsPooled(final int runs) {
        final SplittableRandom random = new SplittableRandom(7);
        int contains = 0;
        for (int i = 0; i < 200; i++) {
            final PooledLatencies ours = turns(runs, random);
            final PooledLatencies theirs = turns(runs, random);
            contains += Interval.of(runs, draw -> ours.percentileNs(90, draw) / theirs.percentileNs(90, draw))
                .contains(1) ? 1 : 0;
        }
        assertTrue(contains >= 184, runs + " runs: contains 1 in " + contains + " of 200");
    }

    /** Each turn has a level of its own, as on a machine whose speed changes. */
    private static PooledLatencies turns(final int runs, final SplittableRandom random) {
        final List<Histogram> turns = new ArrayList<>();
        for (int turn = 0; turn < runs; turn++) {
            final double level = 1_000 * Math.exp(random.nextGaussian() * 0.05);
            final Histogram latencies = new Histogram(3);
            for (int i = 0; i < 20; i++) {
                latencies.recordValue((long) (level * Math.exp(random.nextGaussian() * 0.2)));
            }
            turns.add(latencies);
        }
        return new PooledLatencies(turns);
    }

    @Test
    void shouldHaveTheTailsOfStudentsDistribution() {
        // Bounds of tables for 5, 9, 29 and 9,999 degrees of freedom: 2.5706, 2.2622, 2.0452, 1.9602.
        assertEquals(0.00243, Interval.tail(6), 0.00005);
        assertEquals(0.00854, Interval.tail(10), 0.00005);
        assertEquals(0.01876, Interval.tail(30), 0.00005);
        assertEquals(0.02499, Interval.tail(10_000), 0.00005);
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
