package io.ringpoll.verify.run;

import java.util.Arrays;

/**
 * The trend of a quantity: the median of the slopes between all its samples, so that a few outliers do not change it. Stateless.
 */
final class Trend {
    private Trend() {
    }

    /**
     * The slope.
     *
     * @param at     time of each sample, ascending
     * @param values as many
     * @return values per unit of time; 0 for fewer than two samples
     */
    static double slope(final double[] at, final double[] values) {
        final double[] slopes = new double[at.length * (at.length - 1) / 2];
        int count = 0;
        for (int i = 0; i < at.length; i++) {
            for (int j = i + 1; j < at.length; j++) {
                slopes[count++] = (values[j] - values[i]) / (at[j] - at[i]);
            }
        }
        return median(slopes);
    }

    /**
     * The median.
     *
     * @param values in any order
     * @return the middle one, or the mean of the two in the middle; 0 if there are none
     */
    static double median(final double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        final int half = sorted.length / 2;
        return sorted.length == 0 ? 0 : sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
