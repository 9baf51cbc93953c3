package io.ringpoll.bench.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The buckets of histogram.h are those of HdrHistogram. */
@Timeout(60)
class CHistogramTest {
    private static final int BUCKETS = 27;
    private static final int HALF = 1 << 10;

    @Test
    void shouldCountTheFirstValuesOneByOne() {
        for (int index = 0; index < 2 * HALF; index++) {
            assertEquals(index, CBaseline.valueAt(index));
        }
    }

    @Test
    void shouldNameTheLowestValueOfEachBucketOfHdrHistogram() {
        final Histogram histogram = new Histogram(1, (1L << 36) - 1, 3);
        for (int index = 1; index < BUCKETS * HALF; index++) {
            final long value = CBaseline.valueAt(index);
            assertTrue(value > CBaseline.valueAt(index - 1), "values grow with the index");
            assertEquals(value, histogram.lowestEquivalentValue(value), "index " + index);
            assertEquals(value - 1, histogram.highestEquivalentValue(value - 1), "the value before index " + index);
        }
    }
}
