package io.ringpoll.bench.plot;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;

/** Writes charts to files, in the colours of a light or a dark page. Needs no display. */
public final class PlotFile {
    /** The ending of an SVG file. */
    public static final String SVG = ".svg";
    /** The ending of a PNG file. */
    public static final String PNG = ".png";

    private static final Color LIGHT_PAGE = new Color(0xffffff);
    private static final Color LIGHT_TEXT = new Color(0x1f2328);
    private static final Color LIGHT_GRID = new Color(0xd1d9e0);
    private static final Color DARK_PAGE = new Color(0x0d1117);
    private static final Color DARK_TEXT = new Color(0xf0f6fc);
    private static final Color DARK_GRID = new Color(0x2f353d);
    /** A dashed line would be a path of its dashes, which are most of an SVG file. */
    private static final BasicStroke GRID_LINE = new BasicStroke(0.5f);
    /** Legible on both pages. */
    private static final Color[] SERIES = {
        new Color(0x2f81f7), new Color(0xdb6d28), new Color(0x2da44e), new Color(0xa371f7), new Color(0xe5534b),
        new Color(0x768390)};
    /** XChart writes up to ten digits after the point, which are most of a file. */
    private static final Pattern NEEDLESS_DIGITS = Pattern.compile("(\\.\\d\\d)\\d+");

    private PlotFile() {
    }

    /**
     * Writes a chart in the colours of a light page.
     *
     * @param chart the chart
     * @param file  output file; its ending selects the format, {@value #SVG} or {@value #PNG}
     */
    public static void write(final Chart<? extends AxesChartStyler, ?> chart, final Path file) {
        color(chart.getStyler(), LIGHT_PAGE, LIGHT_TEXT, LIGHT_GRID);
        save(chart, file);
    }

    /**
     * Writes a chart in the colours of a dark page.
     *
     * @param chart the chart
     * @param file  output file; its ending selects the format, {@value #SVG} or {@value #PNG}
     */
    public static void writeDark(final Chart<? extends AxesChartStyler, ?> chart, final Path file) {
        color(chart.getStyler(), DARK_PAGE, DARK_TEXT, DARK_GRID);
        save(chart, file);
    }

    /**
     * Whether a chart can be written to a file.
     *
     * @param file output file
     * @return true if its name ends in {@value #SVG} or {@value #PNG}
     */
    public static boolean isPlot(final Path file) {
        return file.toString().endsWith(SVG) || file.toString().endsWith(PNG);
    }

    private static void color(final AxesChartStyler styler, final Color page, final Color text, final Color grid) {
        styler.setSeriesColors(SERIES);
        styler.setChartBackgroundColor(page).setPlotBackgroundColor(page).setLegendBackgroundColor(page);
        styler.setChartFontColor(text).setPlotBorderColor(grid).setLegendBorderColor(grid);
        styler.setAxisTickLabelsColor(text).setAxisTickMarksColor(grid).setPlotGridLinesColor(grid)
            .setPlotGridLinesStroke(GRID_LINE);
        styler.setXAxisTitleColor(text).setYAxisTitleColor(text);
    }

    private static void save(final Chart<? extends Styler, ?> chart, final Path file) {
        System.setProperty("java.awt.headless", "true");
        try (ByteArrayOutputStream drawn = new ByteArrayOutputStream()) {
            Files.createDirectories(file.toAbsolutePath().getParent());
            if (file.toString().endsWith(PNG)) {
                BitmapEncoder.saveBitmap(chart, drawn, BitmapEncoder.BitmapFormat.PNG);
                Files.write(file, drawn.toByteArray());
            } else {
                VectorGraphicsEncoder.saveVectorGraphic(chart, drawn, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
                Files.writeString(file,
                    NEEDLESS_DIGITS.matcher(drawn.toString(StandardCharsets.UTF_8)).replaceAll("$1"));
            }
        } catch (final IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }
}
