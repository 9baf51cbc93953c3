package io.ringpoll.bench.plot;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** Ratios by name, as bars, with a line at one. */
public final class RatioPlot {
    private static final int WIDTH = 1000;
    private static final int TOP = 44;
    private static final int BOTTOM = 16;
    private static final int ROW = 22;
    private static final int BAR = 14;
    private static final int LEFT = 420;
    private static final int RIGHT = 70;

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
        final int height = TOP + ratios.size() * ROW + BOTTOM;
        final double largest = ratios.values().stream().mapToDouble(ratio -> ratio).filter(Double::isFinite).max().orElse(1);
        final double perUnit = (WIDTH - LEFT - RIGHT) / Math.max(1, largest);
        final Drawing drawing = new Drawing(WIDTH, height, title);
        double y = TOP;
        for (final Map.Entry<String, Double> each : ratios.entrySet()) {
            final double length = Double.isFinite(each.getValue()) ? each.getValue() * perUnit : 0;
            drawing.text("", "end", LEFT - 8, y + BAR - 2, each.getKey());
            drawing.rectangle("bar", LEFT, y, length, BAR);
            drawing.text("", "start", LEFT + length + 6, y + BAR - 2, String.format(Locale.ROOT, "%.2f", each.getValue()));
            y += ROW;
        }
        drawing.line("axis", LEFT, TOP - 6, LEFT, height - BOTTOM);
        drawing.line("axis dash", LEFT + perUnit, TOP - 6, LEFT + perUnit, height - BOTTOM);
        drawing.write(file);
    }
}
