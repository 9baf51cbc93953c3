package io.ringpoll.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

@Timeout(20)
class PercentilePlotTest {
    @TempDir
    private Path folder;

    @Test
    void shouldSpaceNinesEvenlyOnTheAxis() {
        assertEquals(0, PercentilePlot.nines(0), 1e-9);
        assertEquals(1, PercentilePlot.nines(90), 1e-9);
        assertEquals(2, PercentilePlot.nines(99), 1e-9);
        assertEquals(4, PercentilePlot.nines(99.99), 1e-9);
    }

    @Test
    void shouldLabelPercentilesAndDurations() {
        assertEquals("0", PercentilePlot.percentile(0));
        assertEquals("90", PercentilePlot.percentile(1));
        assertEquals("99.999", PercentilePlot.percentile(5));
        assertEquals("1 ns", PercentilePlot.duration(0));
        assertEquals("100 ns", PercentilePlot.duration(2));
        assertEquals("10 us", PercentilePlot.duration(4));
        assertEquals("1 s", PercentilePlot.duration(9));
        assertEquals("1000 s", PercentilePlot.duration(12));
    }

    @Test
    void shouldDrawALineForEachHistogramThatHasValues() throws Exception {
        final Map<String, Histogram> histograms = new LinkedHashMap<>();
        histograms.put("fast & small", uniform(1, 1000));
        histograms.put("slow", uniform(10_000, 900_000));
        histograms.put("empty", new Histogram(3));
        final Path file = folder.resolve("new").resolve("plot.svg");
        PercentilePlot.draw("title <1>", histograms, file);
        assertTrue(Files.size(file) < 20_000, "bytes: " + Files.size(file));
        assertTrue(Files.readString(file).contains("@media (prefers-color-scheme: dark)"));
        final Document svg = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        assertEquals(List.of("title <1>", "0", "90", "99", "99.9", "1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms",
            "percentile", "latency", "fast & small", "slow"), texts(svg));
        final NodeList lines = svg.getElementsByTagName("polyline");
        assertEquals(2, lines.getLength());
        for (int i = 0; i < lines.getLength(); i++) {
            final String[] points = lines.item(i).getAttributes().getNamedItem("points").getNodeValue().split("\\s");
            assertTrue(points.length > 30, "points: " + points.length);
            double last = 0;
            for (final String point : points) {
                final double x = Double.parseDouble(point.split(",")[0]);
                assertTrue(x >= last, point);
                last = x;
            }
        }
    }

    private static Histogram uniform(final long from, final long to) {
        final Histogram histogram = new Histogram(3);
        for (int i = 0; i < 2000; i++) {
            histogram.recordValue(from + i * (to - from) / 1999);
        }
        return histogram;
    }

    private static List<String> texts(final Document svg) {
        final NodeList all = svg.getElementsByTagName("text");
        final List<String> texts = new ArrayList<>();
        for (int i = 0; i < all.getLength(); i++) {
            texts.add(all.item(i).getTextContent());
        }
        return texts;
    }
}
