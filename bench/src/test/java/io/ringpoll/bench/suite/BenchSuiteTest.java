package io.ringpoll.bench.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
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

@Timeout(180)
class BenchSuiteTest {
    private final StringWriter out = new StringWriter();

    @TempDir
    private Path folder;

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
    void shouldPlanAnHourForAllPartsAndFiveMinutesForTheQuickRun() {
        final RunPlan full = RunPlan.of(EnumSet.allOf(Part.class), Effort.FULL, folder);
        final RunPlan quick = RunPlan.of(EnumSet.allOf(Part.class), Effort.QUICK, folder);
        assertTrue(full.expectedNs() < TimeUnit.MINUTES.toNanos(65), full.toString());
        assertTrue(quick.expectedNs() < TimeUnit.MINUTES.toNanos(5), quick.toString());
        assertTrue(full.steps() > 3 * quick.steps(), full + " " + quick);
    }

    @Test
    void shouldEstimateTheRemainingTimeByThePaceOfFinishedSteps() {
        final Progress progress = new Progress(new PrintWriter(out, true), new RunPlan(3, TimeUnit.MINUTES.toNanos(3)));
        progress.begin();
        progress.next("a", 0, TimeUnit.MINUTES.toNanos(1));
        progress.next("b", TimeUnit.MINUTES.toNanos(4), TimeUnit.MINUTES.toNanos(1));
        progress.next("c", TimeUnit.SECONDS.toNanos(270), TimeUnit.MINUTES.toNanos(1));
        assertEquals(List.of("3 steps, about 3 minutes", "[1/3, 0 s, about 3 minutes left] a",
            "[2/3, 240 s, about 6 minutes left] b", "[3/3, 270 s, about 2 minutes left] c"), out.toString().lines().toList());
    }
}
