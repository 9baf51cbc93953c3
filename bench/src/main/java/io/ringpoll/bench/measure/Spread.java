package io.ringpoll.bench.measure;

import java.util.Arrays;

/**
 * What repeated measurements of one thing come to.
 *
 * @param runs          how many there were
 * @param median        the middle one
 * @param lowerQuartile a quarter of them is below
 * @param upperQuartile a quarter of them is above
 */
public record Spread(int runs, double median, double lowerQuartile, double upperQuartile) {
    private static final double QUARTER = 0.25;

    /**
     * Sums up measurements.
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
     * How far apart they are.
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
