package io.ringpoll.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.plot.GrowthPlot.Scale;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GrowthPlotTest {
    @TempDir
    private Path folder;

    @Test
    void shouldDrawEachLineForLightAndForDarkPages() throws Exception {
        final Map<String, Map<Integer, Double>> lines = new LinkedHashMap<>();
        lines.put("ringpoll", Map.of(1_000, 640.5, 1, 3.5, 10, 9.5));
        lines.put("C", Map.of(1, 2.5, 10, 4.5, 1_000, 210.5));
        GrowthPlot.draw("queues", Scale.POWERS_OF_TEN, "ns a completion", lines, folder, "plot");
        final String light = Files.readString(folder.resolve("plot.svg"));
        final String dark = Files.readString(folder.resolve("plot-dark.svg"));
        assertNotEquals(light, dark);
        assertEquals(light.split("<path").length, dark.split("<path").length);
        assertTrue(light.length() < 200_000, "characters: " + light.length());
        assertNotNull(ImageIO.read(folder.resolve("plot.png").toFile()));
    }

    @Test
    void shouldLabelPowersOnly() {
        assertEquals("1,024", Scale.POWERS_OF_TWO.label(Scale.POWERS_OF_TWO.place(1_024)));
        assertEquals("8", Scale.LINEAR.label(Scale.LINEAR.place(8)));
        assertEquals("", Scale.POWERS_OF_TWO.label(10.5));
    }

    @Test
    void shouldEndTheAxisOfCostsAtNumbersWithALabel() {
        assertEquals(3, GrowthPlot.roundDown(3.5), 1e-9);
        assertEquals(4, GrowthPlot.roundUp(3.5), 1e-9);
        assertEquals(900, GrowthPlot.roundDown(999), 1e-9);
        assertEquals(1_000, GrowthPlot.roundUp(999), 1e-9);
        assertEquals(0.2, GrowthPlot.roundDown(0.2), 1e-9);
        assertEquals(0.3, GrowthPlot.roundUp(0.2), 1e-9);
    }

    @Test
    void shouldDrawEachScaleForAnyRange() {
        // XChart looks for labels that fit; the thread of the test cannot be interrupted there.
        assertTimeoutPreemptively(Duration.ofSeconds(50), () -> {
            for (final Scale scale : Scale.values()) {
                for (int step = 1; step <= 7; step++) {
                    final int last = scale == Scale.POWERS_OF_TWO ? 1 << step : 1 + step;
                    GrowthPlot.draw("quantity", scale, "ns", Map.of("C", Map.of(1, 3.5, last, 3.5)), folder, scale.name());
                }
            }
            GrowthPlot.draw("quantity", Scale.POWERS_OF_TWO, "ns", Map.of("C", Map.of(64, 3.5, 1 << 20, 9e3)), folder, "wide");
        });
        assertTrue(Files.exists(folder.resolve("wide-dark.svg")));
    }
}
