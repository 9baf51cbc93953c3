package io.ringpoll.bench.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.Verdict;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessesReportTest {
    private static final HotCpus TWO_CPUS = new HotCpus(0, List.of(1));

    /** Six rounds, in which a contestant has its place in the enumeration as p50, in hundreds of nanoseconds. */
    private static List<ProcessesWindow> windows() {
        final List<ProcessesWindow> windows = new ArrayList<>();
        for (int round = 0; round < 6; round++) {
            for (final ProcessesSubject subject : ProcessesSubject.values()) {
                final double p50 = 100 * (1 + subject.ordinal());
                windows.add(new ProcessesWindow(
                    round, subject, subject.isPingPong() ? List.of(p50, 2 * p50, 3 * p50) : List.of(p50), 0));
            }
        }
        return windows;
    }

    private static ProcessesReport report(final HotCpus cpus, final List<ProcessesWindow> windows) {
        return new ProcessesReport(ProcessesConfig.named("quick"), cpus, windows);
    }

    private static String printed(final ProcessesReport report) {
        final StringWriter out = new StringWriter();
        report.print(new PrintWriter(out));
        return out.toString();
    }

    @Test
    void shouldHaveAVerdictOnEveryGoalAboutProcesses() {
        final List<BenchResult> results = report(TWO_CPUS, windows()).results();
        final List<Goal> goals = Goals.all().stream().filter(goal -> goal.result().startsWith("processes/")).toList();
        assertEquals(4, goals.size());
        for (final Goal goal : goals) {
            final BenchResult result = results.stream().filter(goal::isAbout).findFirst().orElseThrow();
            assertEquals(Verdict.MET, goal.verdict(result), goal.toString());
        }
    }

    @Test
    void shouldCompareTurnsOfTheSameRoundOnly() {
        final List<ProcessesWindow> windows = windows();
        windows.replaceAll(window -> window.round() == 2 && window.subject() == ProcessesSubject.C ?
            new ProcessesWindow(2, window.subject(), List.of(9e9, 9e9, 9e9), 0.5) : window);
        final ProcessesReport report = report(TWO_CPUS, windows);
        for (final BenchResult result : report.results()) {
            assertEquals(result.name().startsWith("processes/send") || result.baselineName().equals("c") ? 5 : 6, result.runs(),
                result.toString());
            assertTrue(result.ringpoll() < 9e9, result.toString());
        }
        assertEquals(List.of(), report.unmeasured());
        assertTrue(printed(report).contains(
            "42 turns, 1 dropped because a thread lost its CPU, 1 of the 42 planned ones missing"), printed(report));
    }

    @Test
    void shouldCompareARepeatedTurnWithTheOthersOfItsRound() {
        final List<ProcessesWindow> windows = windows();
        windows.add(7, new ProcessesWindow(2, ProcessesSubject.C, List.of(9e9, 9e9, 9e9), 0.5));
        final ProcessesReport report = report(TWO_CPUS, windows);
        for (final BenchResult result : report.results()) {
            assertEquals(6, result.runs(), result.toString());
            assertTrue(result.ringpoll() < 9e9, result.toString());
        }
        assertTrue(printed(report).contains("43 turns, 1 dropped because a thread lost its CPU\n"), printed(report));
    }

    @Test
    void shouldNameAContestantWithoutAValidTurn() {
        final List<ProcessesWindow> windows = windows();
        windows.removeIf(window -> window.subject() == ProcessesSubject.WRITES);
        windows.add(new ProcessesWindow(0, ProcessesSubject.WRITES, List.of(), 0));
        final ProcessesReport report = report(TWO_CPUS, windows);
        assertEquals(List.of("processes, writes: no turn without lost CPU time"), report.unmeasured());
        assertTrue(printed(report).contains("no figure: processes, writes"), printed(report));
    }

    @Test
    void shouldPrintMediansAndWhetherThereIsOneCpuOnly() {
        final String text = printed(report(TWO_CPUS, windows()));
        assertTrue(text.startsWith("server on CPU 1, client on CPU 0\n"), text);
        assertTrue(text.contains("300 (0)           600 (0)           900 (0)      6"), text);
        final String shared = printed(report(new HotCpus(0, List.of(0)), windows()));
        assertTrue(shared.startsWith("both processes share their CPUs"), shared);
    }
}
