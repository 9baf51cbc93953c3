package io.ringpoll.cli.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.cli.options.CommandCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the command works; the figures of a loaded machine are not checked. */
@Timeout(180)
class BenchCommandTest {
    private final CommandCalls calls = CommandCalls.of(BenchCommand::new);

    @TempDir
    private Path folder;

    @Test
    void shouldRefuseAFolderThatTheKernelDoesNotCreate() {
        assertEquals(2, calls.execute("--glance", "--only", "post", "--output", "/proc/ringpoll"));
        assertEquals("ringpoll bench: --output /proc/ringpoll: /proc cannot be written to; name another place\n", calls.err());
    }

    @Test
    void shouldMeasureAPartAndWriteJsonAndReport() throws IOException {
        assertEquals(0, calls.execute("--glance", "--only", "post", "--json", "--output", folder.toString()), calls.err());
        final JsonNode root = calls.json();
        assertTrue(root.path("machine").path("cpu").isTextual());
        assertEquals(3, root.path("results").size());
        for (final JsonNode result : root.path("results")) {
            final List<String> fields = new ArrayList<>();
            result.fieldNames().forEachRemaining(fields::add);
            final List<String> expected = new ArrayList<>(
                List.of("name", "unit", "ringpoll", "baseline", "baselineName", "ratio", "runs", "spread", "ourCost", "excess"));
            if (!result.path("name").asText().endsWith("without-budget")) {
                expected.addAll(List.of("goal", "verdict"));
                assertEquals("not shown", result.path("verdict").asText(), "one run has no interval");
            }
            assertEquals(expected, fields);
            assertEquals("too few runs", result.path("ourCost").asText());
            assertEquals("c", result.path("baselineName").asText());
            assertEquals(1, result.path("runs").asInt());
            assertTrue(result.path("ringpoll").asDouble() > 0 && result.path("baseline").asDouble() > 0, result.toString());
        }
        assertEquals(root, new ObjectMapper().readTree(folder.resolve("bench.json").toFile()));
        final String report = Files.readString(folder.resolve("report.html"));
        assertTrue(report.contains("<svg") && report.contains("post/write/64-bytes") && report.contains("kernel"), report);
        assertTrue(calls.err().contains("6 steps, about 9 s") && calls.err().contains("[6/6, ") &&
            calls.err().contains(" left] post: inC WRITE UNCOUNTED 64"), calls.err());
    }

    @Test
    void shouldMeasureTheEchoWithTheChosenConnectionsInAJvmOfItsOwn() throws IOException {
        assertEquals(0, calls.execute("--glance", "--only", "echo", "--connections", "1", "--output", folder.toString()),
            calls.err());
        final JsonNode echo = new ObjectMapper().readTree(folder.resolve("echo.json").toFile());
        final JsonNode turns =
            new ObjectMapper().readTree(folder.resolve("bench.json").toFile()).path("turns").path("echo");
        // Six contestants, two modes; a turn in which a thread loses its CPU is repeated.
        assertEquals(12, turns.path("planned").asInt(), turns.toString());
        final int taken = turns.path("taken").asInt();
        assertTrue(taken >= 12, turns.toString());
        assertEquals(taken, echo.path("windows").size());
        echo.path("windows").forEach(window -> assertEquals(1, window.path("connections").asInt()));
        assertTrue(calls.out().contains("\necho: " + taken + " turns, "), calls.out());
        assertTrue(Files.readString(folder.resolve("echo.log")).contains("by-hand"), calls.out());
    }

    @Test
    void shouldRefuseNumbersOfConnectionsThatAreNotMeasured() {
        assertEquals(2, calls.execute("--only", "echo", "--connections", "1,7"));
        assertTrue(calls.err().contains("--connections [1, 7] is not some of [1, 20, 1000]"), calls.err());
        assertEquals(2, calls.execute("--only", "poll", "--connections", "1"));
        assertTrue(calls.err().contains("--connections is for --only echo"), calls.err());
    }

    @Test
    void shouldMeasureTwoProcesses() throws IOException {
        assertEquals(0, calls.execute("--glance", "--only", "processes", "--output", folder.toString()), calls.err());
        final JsonNode processes = new ObjectMapper().readTree(folder.resolve("processes.json").toFile());
        final Set<String> turns = new HashSet<>();
        processes.path("windows").forEach(window -> turns.add(window.path("contestant").asText()));
        assertEquals(Set.of("c", "ringpoll", "shared-memory", "aeron-ipc", "tcp", "writes", "memcpy"), turns);
        assertTrue(Files.readString(folder.resolve("processes.log")).contains("half round trip"), calls.out());
    }

    @Test
    void shouldMeasureGrowthWithATableAndPlotsForEachAxis() throws IOException {
        assertEquals(0, calls.execute("--glance", "--only", "growth", "--output", folder.toString()), calls.err());
        for (final String title : List.of("queues in the round of a poller, one of them busy: ns a completion",
            "queues in the round of a poller, one of them busy: ns from due time to handler, median",
            "pollers, each with its queue, ring and handler: ns a completion", "slots of the ring: ns a completion",
            "completions per poll: ns a completion")) {
            assertTrue(calls.out().contains(title), calls.out());
        }
        final JsonNode root = new ObjectMapper().readTree(folder.resolve("bench.json").toFile());
        final Set<String> measured = new HashSet<>();
        final Set<String> turns = new HashSet<>();
        for (final JsonNode window : root.path("growth").path("windows")) {
            measured.add(window.path("name").asText());
            assertTrue(turns.add(window.path("name").asText() + ' ' + window.path("contestant").asText()), window.toString());
        }
        for (final String name : measured) {
            assertTrue(turns.containsAll(Set.of(name + " ringpoll", name + " c")), turns.toString());
        }
        // On a busy machine, a turn of a few milliseconds may have no figure.
        final String report = Files.readString(folder.resolve("report.html"));
        final Map<String, Set<String>> plots = new HashMap<>();
        for (final JsonNode result : root.path("results")) {
            final String name = result.path("name").asText();
            assertTrue(measured.contains(name), result.toString());
            if (!"c".equals(result.path("baselineName").asText())) {
                continue;
            }
            plots.computeIfAbsent(name.replaceFirst("/\\d+", "").replace('/', '-'), plot -> new HashSet<>()).add(name);
        }
        plots.values().removeIf(points -> points.size() == 1);
        for (final String plot : plots.keySet()) {
            for (final String ending : List.of(".svg", "-dark.svg", ".png")) {
                assertTrue(Files.exists(folder.resolve(plot + ending)), plot + ending);
            }
            assertTrue(report.contains(plot + ".png"), plot);
        }
    }

    @Test
    void shouldRejectInvalidOptionsInOneLine() {
        assertEquals(2, calls.execute("--quick", "--full"));
        assertTrue(calls.err().contains("exclude each other"), calls.err());
        assertEquals(2, calls.execute("--only", "everything"));
        assertTrue(calls.err().contains("--only 'everything' is not one of poll, flyweight"), calls.err());
        assertEquals(1, calls.err().lines().count());
    }

    @Test
    void shouldTakeAQuotationMarkInAListForItselfAndWarnOfNothing() {
        final PrintStream stderr = System.err;
        final ByteArrayOutputStream warnings = new ByteArrayOutputStream();
        System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
        try {
            assertEquals(2, calls.execute("--only", "post,\"counters"));
        } finally {
            System.setErr(stderr);
        }
        assertEquals("", warnings.toString(StandardCharsets.UTF_8));
        assertTrue(calls.err().contains("--only '\"counters' is not one of"), calls.err());
    }
}
