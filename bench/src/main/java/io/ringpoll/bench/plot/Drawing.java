package io.ringpoll.bench.plot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** An SVG file in the making. Classes of its style sheet colour all shapes, for a light and for a dark background. */
final class Drawing {
    /** Number of different colours of data. */
    static final int COLORS = 6;

    private static final String STYLE = """
        text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
        .head { font-weight: 600; }
        .page { fill: #ffffff; }
        .grid { stroke: #d1d9e0; }
        .axis { stroke: #59636e; }
        .data { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
        .dash { stroke-dasharray: 6 4; }
        .c0 { stroke: #0969da; } .c1 { stroke: #bc4c00; } .c2 { stroke: #1a7f37; }
        .c3 { stroke: #8250df; } .c4 { stroke: #cf222e; } .c5 { stroke: #59636e; }
        .bar { fill: #0969da; }
        @media (prefers-color-scheme: dark) {
          text { fill: #f0f6fc; }
          .page { fill: #0d1117; }
          .grid { stroke: #2f353d; }
          .axis { stroke: #9198a1; }
          .c0 { stroke: #58a6ff; } .c1 { stroke: #f0883e; } .c2 { stroke: #3fb950; }
          .c3 { stroke: #bc8cff; } .c4 { stroke: #f85149; } .c5 { stroke: #9198a1; }
          .bar { fill: #58a6ff; }
        }
        """;

    private final StringBuilder svg = new StringBuilder();

    Drawing(final int width, final int height, final String title) {
        svg.append(String.format(Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">%n",
            width, height, width, height));
        svg.append("<title>").append(escape(title)).append("</title>\n<style>\n").append(STYLE).append("</style>\n");
        rectangle("page", 0, 0, width, height);
        text("head", "middle", width / 2.0, 24, title);
    }

    void rectangle(final String type, final double x, final double y, final double width, final double height) {
        svg.append(String.format(Locale.ROOT, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>%n",
            type, x, y, width, height));
    }

    void line(final String type, final double x1, final double y1, final double x2, final double y2) {
        svg.append(String.format(Locale.ROOT, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>%n",
            type, x1, y1, x2, y2));
    }

    /** Adds a line through points, given as SVG coordinates separated by spaces. */
    void polyline(final String type, final CharSequence points) {
        svg.append("<polyline class=\"").append(type).append("\" points=\"").append(points).append("\"/>\n");
    }

    void text(final String type, final String anchor, final double x, final double y, final String text) {
        svg.append(String.format(Locale.ROOT, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
            type, anchor, x, y, escape(text)));
    }

    void write(final Path file) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, svg + "</svg>\n");
        } catch (final IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }

    private static String escape(final String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
