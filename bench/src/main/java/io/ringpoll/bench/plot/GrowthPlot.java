package io.ringpoll.bench.plot;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A cost by a quantity, one line for each contestant, on logarithmic axes. */
public final class GrowthPlot {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 400;
    private static final int MARKER_SIZE = 6;

    private GrowthPlot() {
    }

    /**
     * Plots lines into {@code NAME.svg}, {@code NAME-dark.svg} for dark pages, and {@code NAME.png}.
     *
     * @param quantity title of the horizontal axis
     * @param cost     title of the vertical axis
     * @param lines    by label, at least one: positive costs by positive quantities
     * @param folder   folder of the files
     * @param name     name of the files, without an ending
     */
    public static void draw(final String quantity, final String cost, final Map<String, Map<Integer, Double>> lines,
        final Path folder, final String name) {
        final XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).xAxisTitle(quantity).yAxisTitle(cost).build();
        chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(true).setLegendPosition(LegendPosition.InsideNW);
        chart.getStyler().setYAxisLogarithmicDecadeOnly(false).setMarkerSize(MARKER_SIZE);
        chart.getStyler().setXAxisDecimalPattern("#,##0").setYAxisDecimalPattern("#,##0.##");
        lines.forEach((label, line) -> {
            final Map<Integer, Double> ascending = new TreeMap<>(line);
            chart.addSeries(label, List.copyOf(ascending.keySet()), List.copyOf(ascending.values()))
                .setMarker(SeriesMarkers.CIRCLE);
        });
        PlotFile.write(chart, folder.resolve(name + PlotFile.SVG));
        PlotFile.writeDark(chart, folder.resolve(name + "-dark" + PlotFile.SVG));
        PlotFile.write(chart, folder.resolve(name + PlotFile.PNG));
    }
}
