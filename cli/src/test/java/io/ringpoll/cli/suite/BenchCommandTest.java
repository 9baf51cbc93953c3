package io.ringpoll.cli.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.cli.options.Execution;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the command works; the figures of a loaded machine are not checked. */
@Timeout(180)
class BenchCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @Test
    void shouldMeasureAPartAndWriteJsonAndReport() throws IOException {
        assertEquals(0, run("--glance", "--only", "post", "--json", "--output", folder.toString()), err.toString());
        final JsonNode root = new ObjectMapper().readTree(out.toString());
        assertTrue(root.path("machine").path("cpu").isTextual());
        assertEquals(2, root.path("results").size());
        for (final JsonNode result : root.path("results")) {
            final List<String> fields = new ArrayList<>();
            result.fieldNames().forEachRemaining(fields::add);
            assertEquals(List.of("name", "unit", "ringpoll", "baseline", "baselineName", "ratio", "runs", "spread"), fields);
            assertEquals("c", result.path("baselineName").asText());
            assertEquals(1, result.path("runs").asInt());
            assertTrue(result.path("ringpoll").asDouble() > 0 && result.path("baseline").asDouble() > 0, result.toString());
        }
        assertEquals(root, new ObjectMapper().readTree(folder.resolve("bench.json").toFile()));
        final String report = Files.readString(folder.resolve("report.html"));
        assertTrue(report.contains("<svg") && report.contains("post/write/64-bytes") && report.contains("kernel"), report);
        assertTrue(err.toString().contains("4 steps, about 6 s") && err.toString().contains("[4/4, ") &&
            err.toString().contains(" left] post: inC READ 64"), err.toString());
    }

    @Test
    void shouldRejectInvalidOptionsInOneLine() {
        assertEquals(2, run("--quick", "--full"));
        assertTrue(err.toString().contains("exclude each other"), err.toString());
        assertEquals(2, run("--only", "everything"));
        assertTrue(err.toString().contains("--only 'everything' is not one of poll, flyweight"), err.toString());
        assertEquals(1, err.toString().lines().count());
    }

    @Test
    void shouldTakeAQuotationMarkInAListForItselfAndWarnOfNothing() {
        final PrintStream stderr = System.err;
        final ByteArrayOutputStream warnings = new ByteArrayOutputStream();
        System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
        try {
            assertEquals(2, run("--only", "post,\"counters"));
        } finally {
            System.setErr(stderr);
        }
        assertEquals("", warnings.toString(StandardCharsets.UTF_8));
        assertTrue(err.toString().contains("--only '\"counters' is not one of"), err.toString());
    }

    private int run(final String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Execution.commandLine(new BenchCommand()).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true))
            .execute(arguments);
    }
}
