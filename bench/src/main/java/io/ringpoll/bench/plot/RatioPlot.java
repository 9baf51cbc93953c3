package io.ringpoll.bench.plot;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;

/** Draws named ratios as bars. */
public final class RatioPlot {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 560;
    private static final int LABEL_ROTATION = 60;

    private RatioPlot() {
    }

    /**
     * Plots ratios into an SVG file.
     *
     * @param title  title of the plot
     * @param ratios by label, at least one
     * @param file   output file
     */
    public static void draw(final String title, final Map<String, Double> ratios, final Path file) {
        final CategoryChart chart = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title).build();
        chart.getStyler().setLabelsVisible(true).setXAxisLabelRotation(LABEL_ROTATION).setLegendVisible(false);
        chart.addSeries("ratio", List.copyOf(ratios.keySet()), List.copyOf(ratios.values()));
        PlotFile.write(chart, file);
    }
}
