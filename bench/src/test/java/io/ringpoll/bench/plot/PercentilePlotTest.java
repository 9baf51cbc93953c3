package io.ringpoll.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

@Timeout(60)
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
    void shouldWritePercentilesAtWholeNinesOnly() {
        assertEquals("0", PercentilePlot.percentile(0));
        assertEquals("90", PercentilePlot.percentile(1));
        assertEquals("99.999", PercentilePlot.percentile(5));
        assertEquals("", PercentilePlot.percentile(1.5));
    }

    @Test
    void shouldDrawForLightAndForDarkPages() throws Exception {
        final Histogram histogram = new Histogram(3);
        for (int i = 1; i <= 2_000; i++) {
            histogram.recordValue(50L * i);
        }
        PercentilePlot.draw("title <1>", Map.of("fast & small", histogram, "empty", new Histogram(3)), folder, "plot");
        final Document light = parse("plot.svg");
        final Document dark = parse("plot-dark.svg");
        assertEquals(light.getElementsByTagName("path").getLength(), dark.getElementsByTagName("path").getLength());
        assertNotEquals(background(light), background(dark));
        assertTrue(Files.size(folder.resolve("plot.svg")) < 200_000, "bytes: " + Files.size(folder.resolve("plot.svg")));
        assertNotNull(ImageIO.read(folder.resolve("plot.png").toFile()));
    }

    private Document parse(final String name) throws Exception {
        final DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        // The document type is on the web.
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder().parse(folder.resolve(name).toFile());
    }

    private static String background(final Document svg) {
        return svg.getElementsByTagName("rect").item(1).getAttributes().getNamedItem("style").getNodeValue();
    }
}
