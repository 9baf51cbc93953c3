package io.ringpoll.bench.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.latency.LatencyCommand;
import io.ringpoll.bench.options.Execution;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** That the command works; how fast things are on a loaded machine is not looked at. */
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
    void shouldRunATool() throws Exception {
        final ToolRun tool = new ToolRun("small", LatencyCommand.class,
            List.of("--rate", "1000", "--duration", "0.1", "--warm-up", "0"), 0);
        final JsonNode document = tool.run(folder);
        assertEquals("latency/synthetic/1000-per-second", document.path("latencies").path(0).path("name").asText());
        assertTrue(Files.readString(folder.resolve("small.json")).contains("latencies"));
    }

    @Test
    void shouldNameTheToolThatFailedAndItsReason() throws Exception {
        final ToolRun tool = new ToolRun("wrong", LatencyCommand.class, List.of("--rate", "0"), 0);
        try {
            tool.run(folder);
        } catch (final IllegalStateException failure) {
            assertTrue(failure.getMessage().startsWith("wrong failed: ") && failure.getMessage().contains("a rate of 0"),
                failure.getMessage());
            return;
        }
        throw new AssertionError("a tool that exits with 2 has not failed");
    }

    @Test
    void shouldNameOnlyBenchmarksThatThereAre() {
        final Set<String> known = new HashSet<>();
        final PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        for (final BenchmarkListEntry entry : BenchmarkList.defaultList().getAll(
            OutputFormatFactory.createFormatInstance(nowhere, VerboseMode.SILENT), List.of())) {
            known.add(entry.getUsername());
        }
        for (final Part part : Part.values()) {
            for (final Variant variant : JmhRounds.variants(part.comparisons(Effort.FULL))) {
                assertTrue(known.contains(variant.benchmark().getName() + "." + variant.method()), variant.toString());
            }
        }
    }

    @Test
    void shouldRefuseWhatItCannotDoInOneLine() {
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

    @Test
    void shouldPlanHalfAnHourForAllAndFiveMinutesForWhatMattersMost() {
        final RunPlan full = RunPlan.of(EnumSet.allOf(Part.class), Effort.FULL, folder);
        final RunPlan quick = RunPlan.of(EnumSet.allOf(Part.class), Effort.QUICK, folder);
        assertTrue(full.expectedNs() < TimeUnit.MINUTES.toNanos(32), full.toString());
        assertTrue(quick.expectedNs() < TimeUnit.MINUTES.toNanos(5), quick.toString());
        assertTrue(full.steps() > 3 * quick.steps(), full + " " + quick);
    }

    @Test
    void shouldTellWhatIsLeftAtThePaceOfTheStepsThatAreDone() {
        final Progress progress = new Progress(new PrintWriter(out, true), new RunPlan(3, TimeUnit.MINUTES.toNanos(3)));
        progress.begin();
        progress.next("a", 0, TimeUnit.MINUTES.toNanos(1));
        progress.next("b", TimeUnit.MINUTES.toNanos(4), TimeUnit.MINUTES.toNanos(1));
        progress.next("c", TimeUnit.SECONDS.toNanos(270), TimeUnit.MINUTES.toNanos(1));
        assertEquals(List.of("3 steps, about 3 minutes", "[1/3, 0 s, about 3 minutes left] a",
            "[2/3, 240 s, about 6 minutes left] b", "[3/3, 270 s, about 2 minutes left] c"), out.toString().lines().toList());
    }

    private int run(final String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Execution.commandLine(new BenchCommand()).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true))
            .execute(arguments);
    }
}
