package io.ringpoll.bench.measure;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * A confidence interval of a statistic of repeated runs, by the bootstrap: the runs are drawn again with replacement, and the
 * interval contains the middle {@value #CONFIDENCE} of the statistic's values.
 *
 * <p>The draws have a fixed seed: the same runs give the same interval.
 *
 * @param low  lower end; negative infinity if there are too few runs
 * @param high upper end; positive infinity if there are too few runs
 * @see <a href="https://doi.org/10.1214/ss/1177013815">DiCiccio and Efron, Bootstrap Confidence Intervals, 1996</a>
 */
public record Interval(double low, double high) {
    /** The share of repeated measurements whose interval contains the true value. */
    public static final double CONFIDENCE = 0.95;
    /** All of five runs are above the median by chance once in 16 measurements, which is more than a twentieth. */
    public static final int FEWEST_RUNS = 6;
    /** The interval of too few runs. */
    public static final Interval UNKNOWN = new Interval(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);

    private static final int RESAMPLES = 2_000;
    private static final long SEED = 17;

    /**
     * The interval of a median.
     *
     * @param values independent runs
     * @return {@link #UNKNOWN} for fewer than {@value #FEWEST_RUNS}
     */
    public static Interval ofMedian(final double... values) {
        final double[] drawn = new double[values.length];
        return of(values.length, draw -> {
            for (int i = 0; i < drawn.length; i++) {
                drawn[i] = values[draw[i]];
            }
            return Spread.of(drawn).median();
        });
    }

    /**
     * The interval of any statistic.
     *
     * @param runs      number of independent runs
     * @param statistic of a draw: as many indexes of runs, some more than once; a result that is not a number is left out
     * @return {@link #UNKNOWN} for fewer than {@value #FEWEST_RUNS} runs, or if no draw has a result
     */
    public static Interval of(final int runs, final ToDoubleFunction<int[]> statistic) {
        return runs < FEWEST_RUNS ? UNKNOWN : resample(runs, RESAMPLES, statistic);
    }

    private static Interval resample(final int runs, final int resamples, final ToDoubleFunction<int[]> statistic) {
        final SplittableRandom random = new SplittableRandom(SEED);
        final int[] draw = new int[runs];
        final double[] results = new double[resamples];
        int count = 0;
        for (int i = 0; i < resamples; i++) {
            for (int j = 0; j < runs; j++) {
                draw[j] = random.nextInt(runs);
            }
            final double result = statistic.applyAsDouble(draw);
            if (!Double.isNaN(result)) {
                results[count++] = result;
            }
        }
        if (count == 0) {
            return UNKNOWN;
        }
        Arrays.sort(results, 0, count);
        final double tail = (1 - CONFIDENCE) / 2;
        return new Interval(results[(int) (tail * count)], results[Math.min(count - 1, (int) ((1 - tail) * count))]);
    }

    /**
     * Whether there were enough runs.
     *
     * @return false if the interval has no ends
     */
    public boolean isKnown() {
        return low != Double.NEGATIVE_INFINITY;
    }

    /**
     * Whether a value is inside.
     *
     * @param value for instance 1, for a ratio
     * @return true if the runs do not contradict it
     */
    public boolean contains(final double value) {
        return low <= value && value <= high;
    }
}
