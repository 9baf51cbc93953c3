package io.ringpoll.bench.plot;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Latency by percentile, on a logarithmic axis: each mark adds a nine. */
public final class PercentilePlot {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 460;
    private static final int TICKS_PER_HALF = 5;
    private static final double HUNDRED = 100;
    private static final double NEAR = 1e-6;

    private PercentilePlot() {
    }

    /**
     * Plots histograms into {@code NAME.svg}, {@code NAME-dark.svg} for dark pages, and {@code NAME.png}.
     *
     * @param title      title of the plot
     * @param histograms in nanoseconds, by label
     * @param folder     folder of the files
     * @param name       name of the files, without an ending
     */
    public static void draw(final String title, final Map<String, Histogram> histograms, final Path folder, final String name) {
        final XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).title(title)
            .xAxisTitle("percentile").yAxisTitle("ns").build();
        chart.getStyler().setYAxisLogarithmic(true).setYAxisDecimalPattern("#,##0").setLegendPosition(LegendPosition.InsideNW);
        chart.setCustomXAxisTickLabelsFormatter(PercentilePlot::percentile);
        histograms.forEach((label, histogram) -> add(chart, label, histogram));
        PlotFile.write(chart, folder.resolve(name + PlotFile.SVG));
        PlotFile.writeDark(chart, folder.resolve(name + "-dark" + PlotFile.SVG));
        PlotFile.write(chart, folder.resolve(name + PlotFile.PNG));
    }

    /** The label of an axis position, which is a number of nines: 0 is p0, 1 is p90, 2 is p99; empty between them. */
    static String percentile(final double nines) {
        final long whole = Math.round(nines);
        if (Math.abs(nines - whole) > NEAR) {
            return "";
        }
        final BigDecimal percentile = BigDecimal.valueOf(100).subtract(BigDecimal.ONE.movePointRight(2 - (int) whole));
        return percentile.stripTrailingZeros().toPlainString();
    }

    /** The axis position of a percentile. */
    static double nines(final double percentile) {
        return Math.log10(HUNDRED / (HUNDRED - percentile));
    }

    private static void add(final XYChart chart, final String label, final Histogram histogram) {
        final List<Double> places = new ArrayList<>();
        final List<Long> values = new ArrayList<>();
        for (final HistogramIterationValue point : histogram.percentiles(TICKS_PER_HALF)) {
            final double percentile = point.getPercentileLevelIteratedTo();
            if (percentile < HUNDRED && point.getValueIteratedTo() > 0) {
                places.add(nines(percentile));
                values.add(point.getValueIteratedTo());
            }
        }
        if (!places.isEmpty()) {
            chart.addSeries(label, places, values).setMarker(SeriesMarkers.NONE);
        }
    }
}
