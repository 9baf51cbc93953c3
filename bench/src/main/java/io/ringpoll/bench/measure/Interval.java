package io.ringpoll.bench.measure;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * A confidence interval of a statistic of repeated runs, by the bootstrap: the runs are drawn again with replacement, and the
 * interval contains the middle of the statistic's values.
 *
 * <p>The middle {@value #CONFIDENCE} of them would be too narrow for few runs, since drawn runs spread less than new ones: of six
 * to ten runs, it misses the true value up to three times too often. The interval is expanded: its tails are those of Student's t
 * distribution. It assumes that the runs are independent of each other.
 *
 * <p>The draws have a fixed seed: the same runs have the same interval.
 *
 * @param low  lower end; negative infinity if there are too few runs
 * @param high upper end; positive infinity if there are too few runs
 * @see <a href="https://doi.org/10.1080/00031305.2015.1089789">Hesterberg, What Teachers Should Know About the Bootstrap, 2015,
 *     section 5.3: expanded percentile intervals</a>
 */
public record Interval(double low, double high) {
    /** The share of repeated measurements with the true value in their interval. */
    public static final double CONFIDENCE = 0.95;
    /** All of five runs are above the median by chance once in 16 measurements, which is more than a twentieth. */
    public static final int FEWEST_RUNS = 6;
    /** The interval of too few runs. */
    public static final Interval UNKNOWN = new Interval(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);

    private static final int RESAMPLES = 2_000;
    private static final long SEED = 17;
    /** Of the values of a normal distribution, {@link #CONFIDENCE} are at most this many standard deviations from the mean. */
    private static final double NORMAL_BOUND = 1.959964;

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
        final int outside = (int) (tail(runs) * count);
        return new Interval(results[outside], results[count - 1 - outside]);
    }

    /**
     * The share of the values below the interval, and above it: 0.0025 for 6 runs, 0.019 for 30, at most 0.025. Drawn runs spread
     * less than new ones by the root of (runs - 1) / runs, and their spread is itself an estimate.
     */
    static double tail(final int runs) {
        return normalTail(studentBound(runs - 1) * Math.sqrt(runs / (runs - 1.0)));
    }

    /** The bound of Student's t distribution, to 0.003 from 5 degrees of freedom on (Abramowitz and Stegun 26.7.5). */
    private static double studentBound(final int freedom) {
        final double z = NORMAL_BOUND;
        final double square = z * z;
        final double first = z * (square + 1) / 4;
        final double second = z * ((5 * square + 16) * square + 3) / 96;
        final double third = z * (((3 * square + 19) * square + 17) * square - 15) / 384;
        return z + (first + (second + third / freedom) / freedom) / freedom;
    }

    /** The share of a normal distribution above a positive bound, to 1e-5 (Abramowitz and Stegun 26.2.16). */
    private static double normalTail(final double bound) {
        final double t = 1 / (1 + 0.33267 * bound);
        return Math.exp(-bound * bound / 2) / Math.sqrt(2 * Math.PI) * t * (0.4361836 + t * (-0.1201676 + t * 0.9372980));
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
