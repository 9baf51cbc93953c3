package io.ringpoll.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
class GrowthPlotTest {
    @TempDir
    private Path folder;

    @Test
    void shouldDrawEachLineForLightAndForDarkPages() throws Exception {
        final Map<String, Map<Integer, Double>> lines = new LinkedHashMap<>();
        lines.put("ringpoll", Map.of(1_000, 640.5, 1, 3.5, 10, 9.5));
        lines.put("C", Map.of(1, 2.5, 10, 4.5, 1_000, 210.5));
        GrowthPlot.draw("queues", "ns a completion", lines, folder, "plot");
        final String light = Files.readString(folder.resolve("plot.svg"));
        final String dark = Files.readString(folder.resolve("plot-dark.svg"));
        assertNotEquals(light, dark);
        assertEquals(light.split("<path").length, dark.split("<path").length);
        assertTrue(light.length() < 200_000, "characters: " + light.length());
        assertNotNull(ImageIO.read(folder.resolve("plot.png").toFile()));
    }

    @Test
    void shouldDrawAPlotOfOnePoint() throws Exception {
        GrowthPlot.draw("pollers", "ns", Map.of("ringpoll", Map.of(1, 3.5)), folder, "one");
        assertEquals(3, Files.list(folder).count());
    }
}
