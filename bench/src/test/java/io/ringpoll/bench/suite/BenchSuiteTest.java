package io.ringpoll.bench.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.echo.EchoConfig;
import io.ringpoll.bench.echo.EchoTool;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Verdict;
import io.ringpoll.bench.processes.ProcessesConfig;
import io.ringpoll.bench.processes.ProcessesTool;
import io.ringpoll.bench.verbs.VerbsTool;
import io.ringpoll.device.DeviceKind;
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
    void shouldTakeTheTurnsOfEachRoundInAnotherOrder() {
        final List<Comparison> comparisons = Part.POLL.comparisons(Effort.FULL);
        final Set<Variant> all = JmhRounds.variants(comparisons);
        final List<Variant> turns = JmhRounds.turns(comparisons, 6);
        assertEquals(6 * all.size(), turns.size());
        final Set<Boolean> oursFirst = new HashSet<>();
        for (int round = 0; round < 6; round++) {
            final List<Variant> order = turns.subList(round * all.size(), (round + 1) * all.size());
            assertEquals(all, Set.copyOf(order), "each has one turn");
            oursFirst.add(order.indexOf(comparisons.getFirst().ours()) < order.indexOf(comparisons.getFirst().baseline()));
        }
        assertEquals(Set.of(true, false), oursFirst, "neither is always the first of a pair");
    }

    @Test
    void shouldMeasureEveryFigureThatHasAGoal() {
        final Set<String> measured = new HashSet<>();
        for (final Part part : Part.values()) {
            for (final Comparison comparison : part.comparisons(Effort.QUICK)) {
                measured.add(comparison.name() + " beside " + comparison.baselineName());
            }
        }
        for (final Goal goal : Goals.all()) {
            if (goal.result().startsWith("echo/")) {
                assertEquals(EchoTool.class, Part.ECHO.tools(Effort.QUICK, folder).getFirst().main(), "see EchoReportTest");
            } else if (goal.result().startsWith("processes/")) {
                assertEquals(ProcessesTool.class, Part.PROCESSES.tools(Effort.QUICK, folder).getFirst().main(),
                    "see ProcessesReportTest");
            } else if (goal.result().startsWith("verbs/")) {
                assertEquals(VerbsTool.class, Part.VERBS.tools(Effort.QUICK, folder).getFirst().main(), "see VerbsToolTest");
            } else if (goal.result().startsWith("replicate/")) {
                assertEquals("netty", goal.baseline(), "see ReplicateGoalsTest");
            } else if (goal.baseline().equals(BenchResult.NOTHING)) {
                assertTrue(goal.result().matches("throughput/\\d-handlers/allocated-per-million"), goal.toString());
            } else if (goal.result().startsWith("throughput/") || goal.result().startsWith("latency/")) {
                assertEquals(goal.baseline(), HandOffs.of(goal.baseline()).label());
            } else {
                assertTrue(measured.contains(goal.result() + " beside " + goal.baseline()), goal + " is not in " + measured);
            }
        }
    }

    @Test
    void shouldReadTheVerdictsOfAToolAsItHasPrintedThem() {
        final double[] ours = {5, 5.1, 5, 5.2, 5, 5.1};
        final List<BenchResult> results =
            List.of(BenchResult.ofCosts("poll/empty/direct", ours, new double[] {4.9, 4.8, 4.9, 4.8, 4.9, 4.7}, "c"));
        final List<BenchResult> read = BenchReport.resultsOf(JsonText.document(results));
        final Goal goal = Goals.of(read.getFirst()).orElseThrow();
        assertEquals(Verdict.MET, goal.verdict(read.getFirst()));
        assertEquals(goal.figureText(results.getFirst()), goal.figureText(read.getFirst()));
    }

    @Test
    void shouldPlanFiveQuartersOfAnHourForAllPartsAndSixMinutesForTheQuickRun() {
        final RunPlan full = plan(Part.unnamed(Effort.FULL), Effort.FULL);
        final RunPlan quick = plan(Part.unnamed(Effort.QUICK), Effort.QUICK);
        assertTrue(full.expectedNs() < TimeUnit.MINUTES.toNanos(75), full.toString());
        assertTrue(quick.expectedNs() < TimeUnit.MINUTES.toNanos(6), quick.toString());
        assertTrue(full.steps() > 3 * quick.steps(), full + " " + quick);
        final RunPlan echo = plan(EnumSet.of(Part.ECHO), Effort.USUAL);
        assertTrue(echo.expectedNs() < TimeUnit.MINUTES.toNanos(9), echo.toString());
    }

    private RunPlan plan(final Set<Part> parts, final Effort effort) {
        return plan(parts, effort, DeviceKind.LOOPBACK);
    }

    private RunPlan plan(final Set<Part> parts, final Effort effort, final DeviceKind device) {
        return RunPlan.of(parts, effort, part -> part.comparisons(effort, device), part -> part.tools(effort, folder));
    }

    @Test
    void shouldMeasureOverVerbsOnAnotherDeviceWhatIsAboutThatDevice() {
        assertTrue(Part.areOfTheMachinesDevice(EnumSet.of(Part.VERBS)));
        assertFalse(Part.areOfTheMachinesDevice(EnumSet.of(Part.VERBS, Part.POST)));
        assertEquals(1, plan(EnumSet.of(Part.VERBS), Effort.USUAL, DeviceKind.RDMA).steps(), "the tool alone");
        assertTrue(plan(EnumSet.of(Part.VERBS), Effort.USUAL, DeviceKind.LOOPBACK).steps() > 1);
        assertEquals(plan(EnumSet.of(Part.POST), Effort.USUAL), plan(EnumSet.of(Part.POST), Effort.USUAL, DeviceKind.RDMA));
    }

    @Test
    void shouldMeasureTheChosenNumbersOfConnections() {
        assertEquals(List.of(1, 20, 1000), EchoConfig.connections());
        final ToolRun some = Part.echo(Effort.USUAL, Set.of(1000, 20));
        assertEquals(List.of("usual", "20,1000"), some.arguments());
        final long all = Part.echo(Effort.USUAL, Set.of()).expectedNs();
        assertEquals(2 * all / 3, some.expectedNs(), all / 30);
        assertEquals(List.of("usual"), Part.echo(Effort.USUAL, Set.of()).arguments());
    }

    @Test
    void shouldRepeatDroppedTurnsOfAPartThatIsNamed() {
        for (final Part part : List.of(Part.ECHO, Part.PROCESSES)) {
            assertEquals(List.of("usual"), part.tools(Effort.USUAL, folder).getFirst().arguments());
            assertEquals(List.of("quick"), part.tools(Effort.QUICK, folder).getFirst().arguments());
        }
        assertEquals(3, EchoConfig.named("usual").attempts());
        assertEquals(1, EchoConfig.named("quick").attempts());
        assertEquals(3, ProcessesConfig.named("usual").attempts());
        assertEquals(1, ProcessesConfig.named("quick").attempts());
    }

    @Test
    void shouldMeasureGrowthIfItIsNamedOrEverythingIsMeasured() {
        assertFalse(Part.unnamed(Effort.QUICK).contains(Part.GROWTH));
        assertEquals(EnumSet.complementOf(EnumSet.of(Part.INSTRUCTIONS)), Part.unnamed(Effort.FULL));
        final RunPlan usual = plan(EnumSet.of(Part.GROWTH), Effort.USUAL);
        final RunPlan quick = plan(EnumSet.of(Part.GROWTH), Effort.QUICK);
        assertEquals(1, usual.steps());
        assertTrue(usual.expectedNs() > 5 * quick.expectedNs(), usual + " " + quick);
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
