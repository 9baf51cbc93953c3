package io.ringpoll.bench.plot;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/** Lines over two axes that have a tick at each whole number. For a logarithmic axis, give the logarithms to the base of ten. */
public final class LineChart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 460;
    private static final int LEFT = 76;
    private static final int RIGHT = 24;
    private static final int TOP = 44;
    private static final int BOTTOM = 52;
    private static final int LEGEND_ROW = 20;
    private static final int POINTS_PER_LINE = 8;

    private final String title;
    private final Axis across;
    private final Axis up;
    private final List<Series> series = new ArrayList<>();

    /**
     * An axis.
     *
     * @param title its title, with the unit
     * @param label the label of the tick at a whole number
     */
    public record Axis(String title, IntFunction<String> label) {
    }

    private record Series(String label, String type, double[] x, double[] y) {
    }

    /**
     * Creates an empty chart.
     *
     * @param title  title of the chart
     * @param across the horizontal axis
     * @param up     the vertical axis
     */
    public LineChart(final String title, final Axis across, final Axis up) {
        this.title = title;
        this.across = across;
        this.up = up;
    }

    /**
     * Adds a line through points; a line without points is left out.
     *
     * @param label  its name in the legend
     * @param color  number of its colour
     * @param dashed whether it is dashed
     * @param x      positions on the horizontal axis, in ascending order
     * @param y      positions on the vertical axis, as many
     */
    public void add(final String label, final int color, final boolean dashed, final double[] x, final double[] y) {
        if (x.length > 0) {
            series.add(new Series(label, "data c" + color % Drawing.COLORS + (dashed ? " dash" : ""), x, y));
        }
    }

    /**
     * Writes the chart.
     *
     * @param file output file, SVG
     */
    public void write(final Path file) {
        final Drawing drawing = new Drawing(WIDTH, HEIGHT, title);
        final Range x = Range.of(series.stream().map(Series::x).toList(), false, LEFT, WIDTH - RIGHT);
        final Range y = Range.of(series.stream().map(Series::y).toList(), true, HEIGHT - BOTTOM, TOP);
        for (int tick = x.firstTick(); tick <= x.high; tick++) {
            drawing.line("grid", x.at(tick), TOP, x.at(tick), HEIGHT - BOTTOM);
            drawing.text("", "middle", x.at(tick), HEIGHT - BOTTOM + 18, across.label.apply(tick));
        }
        for (int tick = y.firstTick(); tick <= y.high; tick++) {
            drawing.line("grid", LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick));
            drawing.text("", "end", LEFT - 8, y.at(tick) + 4, up.label.apply(tick));
        }
        drawing.line("axis", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM);
        drawing.line("axis", LEFT, TOP, LEFT, HEIGHT - BOTTOM);
        drawing.text("", "middle", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, across.title);
        drawing.text("", "start", 12, TOP - 14, up.title);
        for (int i = 0; i < series.size(); i++) {
            final Series line = series.get(i);
            final double row = TOP + 20 + i * LEGEND_ROW;
            drawing.line(line.type, LEFT + 16, row - 4, LEFT + 46, row - 4);
            drawing.text("", "start", LEFT + 54, row, line.label);
            drawing.polyline(line.type, points(line, x, y));
        }
        drawing.write(file);
    }

    private static CharSequence points(final Series line, final Range x, final Range y) {
        final StringBuilder points = new StringBuilder();
        for (int i = 0; i < line.x.length; i++) {
            points.append(i == 0 ? "" : i % POINTS_PER_LINE == 0 ? "\n" : " ")
                .append(String.format(Locale.ROOT, "%.1f,%.1f", x.at(line.x[i]), y.at(line.y[i])));
        }
        return points;
    }

    /** Maps the values from low to high to SVG coordinates. */
    private record Range(double low, double high, double start, double end) {
        static Range of(final List<double[]> values, final boolean wholeTicks, final double start, final double end) {
            double low = Double.POSITIVE_INFINITY;
            double high = Double.NEGATIVE_INFINITY;
            for (final double[] each : values) {
                for (final double value : each) {
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
            if (low > high) {
                return new Range(0, 1, start, end);
            }
            if (wholeTicks || low == high) {
                low = Math.floor(low);
                high = Math.max(Math.ceil(high), low + 1);
            }
            return new Range(low, high, start, end);
        }

        int firstTick() {
            return (int) Math.ceil(low);
        }

        double at(final double value) {
            return start + (value - low) / (high - low) * (end - start);
        }
    }
}
