package io.ringpoll.bench.plot;

import java.nio.file.Path;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A cost by a quantity, one line for each contestant; the vertical axis is logarithmic. */
public final class GrowthPlot {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 400;
    private static final int MARKER_SIZE = 6;
    private static final double NEAR = 1e-6;
    /** Within this factor, nine labels for each power of ten have room. */
    private static final double FEW_COSTS = 15;

    private GrowthPlot() {
    }

    /** The horizontal axis. */
    public enum Scale {
        /** Evenly spaced, with labels at whole numbers. */
        LINEAR,
        /** Each step is the double, for powers of two only. */
        POWERS_OF_TWO,
        /** Logarithmic, with labels at powers of ten. */
        POWERS_OF_TEN;

        double place(final int value) {
            return this == POWERS_OF_TWO ? Math.log(value) / Math.log(2) : value;
        }

        /** The label of a place; empty between the labels. */
        String label(final double place) {
            final long whole = Math.round(place);
            if (Math.abs(place - whole) > NEAR) {
                return "";
            }
            return String.format(Locale.ROOT, "%,d", this == POWERS_OF_TWO ? Math.round(Math.pow(2, whole)) : whole);
        }
    }

    /**
     * Plots lines into {@code NAME.svg}, {@code NAME-dark.svg} for dark pages, and {@code NAME.png}.
     *
     * @param quantity title of the horizontal axis
     * @param scale    the horizontal axis
     * @param cost     title of the vertical axis
     * @param lines    by label, at least one: positive costs by at least two positive quantities
     * @param folder   folder of the files
     * @param name     name of the files, without an ending
     */
    public static void draw(final String quantity, final Scale scale, final String cost,
        final Map<String, Map<Integer, Double>> lines, final Path folder, final String name) {
        final XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).xAxisTitle(quantity).yAxisTitle(cost).build();
        final DoubleSummaryStatistics costs =
            lines.values().stream().flatMap(line -> line.values().stream()).mapToDouble(Double::doubleValue).summaryStatistics();
        chart.getStyler().setYAxisLogarithmic(true).setYAxisDecimalPattern("#,##0.##")
            .setYAxisLogarithmicDecadeOnly(costs.getMax() > FEW_COSTS * costs.getMin());
        chart.getStyler().setYAxisMin(roundDown(costs.getMin())).setYAxisMax(roundUp(costs.getMax()));
        chart.getStyler().setMarkerSize(MARKER_SIZE);
        chart.getStyler().setLegendPosition(LegendPosition.OutsideS).setLegendLayout(LegendLayout.Horizontal);
        if (scale == Scale.POWERS_OF_TEN) {
            chart.getStyler().setXAxisLogarithmic(true).setXAxisDecimalPattern("#,##0");
        } else {
            chart.setCustomXAxisTickLabelsFormatter(scale::label);
        }
        lines.forEach((label, line) -> {
            final Map<Integer, Double> ascending = new TreeMap<>(line);
            chart.addSeries(label, ascending.keySet().stream().map(scale::place).toList(), List.copyOf(ascending.values()))
                .setMarker(SeriesMarkers.CIRCLE);
        });
        PlotFile.write(chart, folder.resolve(name + PlotFile.SVG));
        PlotFile.writeDark(chart, folder.resolve(name + "-dark" + PlotFile.SVG));
        PlotFile.write(chart, folder.resolve(name + PlotFile.PNG));
    }

    /** The highest number with one digit that is not above a cost: both ends of the axis have a label. */
    static double roundDown(final double cost) {
        final double decade = Math.pow(10, Math.floor(Math.log10(cost)));
        return Math.floor(cost / decade + NEAR) * decade;
    }

    /** The next number with one digit. */
    static double roundUp(final double cost) {
        final double decade = Math.pow(10, Math.floor(Math.log10(cost)));
        return (Math.floor(cost / decade + NEAR) + 1) * decade;
    }
}
