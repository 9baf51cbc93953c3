package io.ringpoll.bench.jitter;

import io.ringpoll.bench.plot.PlotFile;
import java.awt.BasicStroke;
import java.awt.Color;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.colors.XChartSeriesColors;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Plots the frequency of interruptions by minimum length: one line each for Java and C and for each CPU. */
public final class JitterPlot {
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 600;
    private static final double NS_PER_US = 1000;
    private static final double NS_PER_S = 1e9;

    private JitterPlot() {
    }

    /**
     * Writes the plot.
     *
     * @param result the results of the meter
     * @param title  title of the plot
     * @param file   output file; the name ends in {@code .svg} or {@code .png}
     */
    public static void write(final JitterResult result, final String title, final Path file) {
        final XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).title(title)
            .xAxisTitle("microseconds lost, at least").yAxisTitle("times a second").build();
        chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(true)
            .setLegendPosition(Styler.LegendPosition.InsideNE);
        chart.getStyler().setDefaultSeriesRenderStyle(org.knowm.xchart.XYSeries.XYSeriesRenderStyle.Step);
        addAll(chart, "Java", result.java(), SeriesLines.SOLID);
        addAll(chart, "C", result.c(), SeriesLines.DASH_DASH);
        PlotFile.write(chart, file);
    }

    private static void addAll(final XYChart chart, final String loop, final List<CpuJitter> cpus,
                               final BasicStroke line) {
        final Color[] colors = new XChartSeriesColors().getSeriesColors();
        for (int i = 0; i < cpus.size(); i++) {
            final CpuJitter cpu = cpus.get(i);
            final List<Double> microseconds = new ArrayList<>();
            final List<Double> perSecond = new ArrayList<>();
            long longer = cpu.gaps().getTotalCount();
            for (final var value : cpu.gaps().recordedValues()) {
                microseconds.add(cpu.gaps().medianEquivalentValue(value.getValueIteratedTo()) / NS_PER_US);
                perSecond.add(longer * NS_PER_S / cpu.elapsedNs());
                longer -= value.getCountAtValueIteratedTo();
            }
            if (!microseconds.isEmpty()) {
                chart.addSeries(loop + ", CPU " + cpu.cpu(), microseconds, perSecond)
                    .setMarker(SeriesMarkers.NONE).setLineStyle(line).setLineColor(colors[i % colors.length]);
            }
        }
    }
}
