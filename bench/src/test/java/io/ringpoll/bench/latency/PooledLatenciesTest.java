package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PooledLatenciesTest {
    private static final double[] PERCENTILES = {1, 50, 90, 99, 99.9, 99.99, 100};

    @Test
    void shouldHaveThePercentilesOfTheMergedHistograms() {
        final SplittableRandom random = new SplittableRandom(1);
        final List<Histogram> turns = List.of(turn(random, 1_000), turn(random, 500), turn(random, 2_000), new Histogram(3));
        final PooledLatencies pooled = new PooledLatencies(turns);
        final Histogram merged = new Histogram(3);
        turns.forEach(merged::add);
        merged.add(turns.get(2));
        for (final double percentile : PERCENTILES) {
            assertEquals(merged.getValueAtPercentile(percentile), pooled.percentileNs(percentile, 0, 1, 2, 3, 2),
                "p" + percentile);
        }
    }

    @Test
    void shouldHaveNoPercentileOfNothing() {
        assertTrue(Double.isNaN(new PooledLatencies(List.of(new Histogram(3))).percentileNs(50, 0)));
        assertTrue(Double.isNaN(new PooledLatencies(List.of()).percentileNs(50)));
    }

    private static Histogram turn(final SplittableRandom random, final int count) {
        final Histogram turn = new Histogram(3);
        for (int i = 0; i < count; i++) {
            turn.recordValue((long) Math.exp(random.nextDouble(3, 15)));
        }
        return turn;
    }
}
