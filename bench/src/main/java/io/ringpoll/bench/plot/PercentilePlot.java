package io.ringpoll.bench.plot;

import io.ringpoll.bench.plot.LineChart.Axis;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/** Latency by percentile, on a logarithmic axis: each tick adds a nine. */
public final class PercentilePlot {
    private static final int TICKS_PER_HALF = 5;
    private static final double HUNDRED = 100;
    private static final String[] UNITS = {"ns", "us", "ms", "s"};

    private PercentilePlot() {
    }

    /**
     * Plots histograms into an SVG file.
     *
     * @param title      title of the plot
     * @param histograms in nanoseconds, by label
     * @param file       output file
     */
    public static void draw(final String title, final Map<String, Histogram> histograms, final Path file) {
        final LineChart chart = new LineChart(
            title, new Axis("percentile", PercentilePlot::percentile), new Axis("latency", PercentilePlot::duration));
        int color = 0;
        for (final Map.Entry<String, Histogram> each : histograms.entrySet()) {
            add(chart, each.getKey(), color++, each.getValue());
        }
        chart.write(file);
    }

    /** The percentile at a number of nines: 0 is p0, 1 is p90, 2 is p99. */
    static String percentile(final int nines) {
        final BigDecimal percentile = BigDecimal.valueOf(100).subtract(BigDecimal.ONE.movePointRight(2 - nines));
        return percentile.stripTrailingZeros().toPlainString();
    }

    /** The number of nines of a percentile. */
    static double nines(final double percentile) {
        return Math.log10(HUNDRED / (HUNDRED - percentile));
    }

    /** A power of ten in nanoseconds, in the largest unit that leaves a whole number. */
    static String duration(final int exponent) {
        final int unit = Math.min(exponent / 3, UNITS.length - 1);
        return BigDecimal.ONE.movePointRight(exponent - 3 * unit).toPlainString() + ' ' + UNITS[unit];
    }

    private static void add(final LineChart chart, final String label, final int color, final Histogram histogram) {
        final DoubleStream.Builder places = DoubleStream.builder();
        final DoubleStream.Builder values = DoubleStream.builder();
        for (final HistogramIterationValue point : histogram.percentiles(TICKS_PER_HALF)) {
            final double percentile = point.getPercentileLevelIteratedTo();
            if (percentile < HUNDRED && point.getValueIteratedTo() > 0) {
                places.add(nines(percentile));
                values.add(Math.log10(point.getValueIteratedTo()));
            }
        }
        chart.add(label, color, false, places.build().toArray(), values.build().toArray());
    }
}
