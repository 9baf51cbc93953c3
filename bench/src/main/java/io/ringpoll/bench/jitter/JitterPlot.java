package io.ringpoll.bench.jitter;

import io.ringpoll.bench.plot.LineChart;
import io.ringpoll.bench.plot.LineChart.Axis;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.DoubleStream;
import org.HdrHistogram.HistogramIterationValue;

/** Plots the frequency of interruptions by minimum length: one line each for Java and C and for each CPU. */
public final class JitterPlot {
    private static final double NS_PER_US = 1000;
    private static final double NS_PER_S = 1e9;

    private JitterPlot() {
    }

    /**
     * Writes the plot.
     *
     * @param result the results of the meter
     * @param title  title of the plot
     * @param file   output file, SVG
     */
    public static void write(final JitterResult result, final String title, final Path file) {
        final LineChart chart = new LineChart(title,
            new Axis("microseconds lost, at least", JitterPlot::power), new Axis("times a second", JitterPlot::power));
        addAll(chart, "Java", result.java(), false);
        addAll(chart, "C", result.c(), true);
        chart.write(file);
    }

    private static String power(final int exponent) {
        return BigDecimal.ONE.movePointRight(exponent).toPlainString();
    }

    private static void addAll(final LineChart chart, final String loop, final List<CpuJitter> cpus, final boolean dashed) {
        for (int i = 0; i < cpus.size(); i++) {
            final CpuJitter cpu = cpus.get(i);
            final DoubleStream.Builder lengths = DoubleStream.builder();
            final DoubleStream.Builder rates = DoubleStream.builder();
            long longer = cpu.gaps().getTotalCount();
            for (final HistogramIterationValue value : cpu.gaps().recordedValues()) {
                lengths.add(Math.log10(cpu.gaps().medianEquivalentValue(value.getValueIteratedTo()) / NS_PER_US));
                rates.add(Math.log10(longer * NS_PER_S / cpu.elapsedNs()));
                longer -= value.getCountAtValueIteratedTo();
            }
            chart.add(loop + ", CPU " + cpu.cpu(), i, dashed, lengths.build().toArray(), rates.build().toArray());
        }
    }
}
