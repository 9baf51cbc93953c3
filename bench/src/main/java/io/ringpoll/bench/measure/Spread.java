package io.ringpoll.bench.measure;

import java.util.Arrays;

/**
 * Median and quartiles of repeated measurements.
 *
 * @param runs          number of measurements
 * @param median        the middle value
 * @param lowerQuartile a quarter of the values is below
 * @param upperQuartile a quarter of the values is above
 */
public record Spread(int runs, double median, double lowerQuartile, double upperQuartile) {
    private static final double QUARTER = 0.25;

    /**
     * Sorts and summarizes measurements.
     *
     * @param values in any order, at least one
     * @return their median and quartiles
     */
    public static Spread of(final double... values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Spread(sorted.length, at(sorted, 2 * QUARTER), at(sorted, QUARTER), at(sorted, 3 * QUARTER));
    }

    /**
     * The interquartile range.
     *
     * @return the distance between the quartiles
     */
    public double width() {
        return upperQuartile - lowerQuartile;
    }

    private static double at(final double[] sorted, final double share) {
        final double position = share * (sorted.length - 1);
        final int below = (int) position;
        final int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
    }
}
