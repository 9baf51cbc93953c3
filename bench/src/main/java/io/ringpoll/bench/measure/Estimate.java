package io.ringpoll.bench.measure;

import java.util.Locale;

/**
 * A figure of repeated runs with its uncertainty.
 *
 * @param value    the figure
 * @param interval its confidence interval
 */
public record Estimate(double value, Interval interval) {
    /**
     * The median of runs.
     *
     * @param values independent runs, at least one
     * @return with the interval of the median
     */
    public static Estimate ofMedian(final double... values) {
        return new Estimate(Spread.of(values).median(), Interval.ofMedian(values));
    }

    /**
     * The figure with its interval.
     *
     * @param format format of each number, for instance {@code "%.3f"}
     * @return for instance {@code "1.021 (1.003 to 1.044)"}, or the figure alone if the interval is not known
     */
    public String text(final String format) {
        final String number = String.format(Locale.ROOT, format, value);
        return interval.isKnown() ?
            number + String.format(Locale.ROOT, " (" + format + " to " + format + ")", interval.low(), interval.high()) : number;
    }
}
