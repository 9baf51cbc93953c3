package io.ringpoll.bench.echo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.bench.measure.Verdict;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EchoReportTest {
    private static final int FORKS = 6;
    private static final CpuLoss NONE = new CpuLoss(1_000_000, 0, 0, 0);
    private static final CpuLoss MUCH = new CpuLoss(1_000_000, 200_000, 0, 0);

    private final EchoConfig config = EchoConfig.named("usual");
    private final List<EchoWindow> windows = new ArrayList<>();

    /** The layer needs 102 ns where the others need 100. */
    private void addAll() {
        for (final EchoScale scale : config.scales()) {
            for (int fork = 0; fork < FORKS; fork++) {
                final int round = fork * config.rounds();
                for (final EchoSubject subject : EchoSubject.values()) {
                    final double ns = subject == EchoSubject.LAYER ? 102 : 100;
                    windows.add(window(round, scale, EchoMode.THROUGHPUT, subject, ns, NONE));
                    windows.add(window(round, scale, EchoMode.PING_PONG, subject, ns, NONE));
                }
            }
        }
    }

    private static EchoWindow window(final int round, final EchoScale scale, final EchoMode mode, final EchoSubject subject,
        final double ns, final CpuLoss loss) {
        return new EchoWindow(
            round, scale, mode, subject, ns, mode == EchoMode.PING_PONG ? List.of(ns, ns, ns) : List.of(), 0, loss, "");
    }

    @Test
    void shouldHaveAFigureForEachOfItsGoals() {
        addAll();
        final List<BenchResult> results = new EchoReport(config, windows).results();
        final List<Goal> goals = Goals.all().stream().filter(goal -> goal.result().startsWith("echo/")).toList();
        assertEquals(16, goals.size());
        assertEquals("216 turns, none dropped because a thread lost its CPU, 1992 of the 2208 planned ones missing",
            new EchoReport(config, windows).turns().toString());
        for (final Goal goal : goals) {
            final BenchResult result =
                results.stream().filter(goal::isAbout).findFirst().orElseThrow(() -> new AssertionError(goal));
            assertEquals(Verdict.MET, goal.verdict(result), goal.toString());
        }
    }

    @Test
    void shouldComparePairsOfTheSameRoundInWhichBothHadTheirCpus() {
        final EchoScale scale = config.scales().getFirst();
        final int rounds = config.rounds();
        for (int round = 0; round < rounds; round++) {
            // The machine gets slower, for both. One window of each is disturbed, in different rounds.
            final int slow = 1 + round;
            windows.add(
                window(round, scale, EchoMode.THROUGHPUT, EchoSubject.LAYER, 110 * slow, round == 1 ? MUCH : NONE));
            windows.add(window(round, scale, EchoMode.THROUGHPUT, EchoSubject.C, 100 * slow, round == 3 ? MUCH : NONE));
        }
        final List<BenchResult> results = new EchoReport(config, windows).results();
        final BenchResult result = results.getFirst();
        assertEquals("echo/1-connections/throughput", result.name());
        assertEquals("c", result.baselineName());
        assertEquals(1.1, result.ratio(), 1e-9);
        assertEquals(2, results.size(), "and the bytes");
    }

    @Test
    void shouldTakeTheTurnsOfAForkAsOneRun() {
        final EchoScale scale = config.scales().getFirst();
        for (int fork = 0; fork < FORKS; fork++) {
            for (int turn = 0; turn < config.rounds(); turn++) {
                // One turn in each fork goes wrong without a loss of CPU.
                final double ns = turn == 1 ? 500 : 100 + fork;
                final int round = fork * config.rounds() + turn;
                windows.add(window(round, scale, EchoMode.THROUGHPUT, EchoSubject.LAYER, ns, NONE));
                windows.add(window(round, scale, EchoMode.THROUGHPUT, EchoSubject.C, 100, NONE));
            }
        }
        final BenchResult result = new EchoReport(config, windows).results().getFirst();
        assertEquals(FORKS, result.runs());
        assertEquals(1.025, result.ratio(), 1e-9);
        assertEquals(new Interval(1, 1.05), result.interval());
    }

    @Test
    void shouldReportFaultsAndLeaveTheirTurnsOut() throws Exception {
        addAll();
        final EchoScale scale = config.scales().getLast();
        windows.add(new EchoWindow(9, scale, EchoMode.THROUGHPUT, EchoSubject.NETTY, 7, List.of(), 3, NONE, "no answer"));
        windows.add(window(10, scale, EchoMode.THROUGHPUT, EchoSubject.NETTY, Double.POSITIVE_INFINITY, NONE));
        final EchoReport report = new EchoReport(config, windows);
        assertEquals(List.of("1000 connections, netty, round 9: no answer"), report.faults());
        final StringWriter text = new StringWriter();
        report.print(new PrintWriter(text, true));
        assertTrue(text.toString().contains("wrong: 1000 connections, netty, round 9: no answer"), text.toString());
        assertTrue(text.toString().contains(
                "1000 connections   netty              10,000,000      0.10      0.10      0.10     0.00 B    6    6"),
            text.toString());
        final JsonNode root = new ObjectMapper().readTree(report.toJson());
        assertEquals(windows.size(), root.path("windows").size());
        assertEquals("no answer", root.path("windows").path(windows.size() - 2).path("fault").asText());
        assertTrue(root.path("windows").path(windows.size() - 1).path("nsPerMessage").isMissingNode());
        final List<EchoWindow> read = new ArrayList<>();
        root.path("windows").forEach(node -> read.add(EchoWindow.of(node, config)));
        assertEquals(windows, read, "as the report on several JVMs reads them");
    }
}
