package io.ringpoll.bench.growth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.CpuLoss;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GrowthReportTest {
    private static final GrowthPoint ONE = new GrowthPoint(GrowthAxis.QUEUES, 1, GrowthMeasure.COST);
    private static final GrowthPoint THOUSAND = new GrowthPoint(GrowthAxis.QUEUES, 1_000, GrowthMeasure.COST);
    private static final GrowthPoint PAIR = new GrowthPoint(GrowthAxis.POLLERS, 2, GrowthMeasure.COST);
    private static final CpuLoss NONE = new CpuLoss(100, 0, 0, 0);
    private static final CpuLoss HALF = new CpuLoss(100, 50, 0, 1);

    private final List<GrowthWindow> windows = new ArrayList<>();

    @TempDir
    private Path folder;

    private void add(final GrowthPoint point, final double ours, final double inC, final CpuLoss loss, final int rounds) {
        final int first = (int) windows.stream().filter(window -> window.point().equals(point)).count() / 2;
        for (int round = first; round < first + rounds; round++) {
            windows.add(new GrowthWindow(round, point, "ringpoll", ours, loss, ""));
            windows.add(new GrowthWindow(round, point, "c", inC, NONE, ""));
        }
    }

    private GrowthReport report(final GrowthPoint... points) {
        return new GrowthReport(new GrowthConfig(List.of(points), 8, 0, 1, 1, 2, 1), windows);
    }

    private static String text(final GrowthReport report) {
        final StringWriter out = new StringWriter();
        report.print(new PrintWriter(out));
        return out.toString();
    }

    @Test
    void shouldCompareTheRoundsInWhichBothHadTheirCpus() {
        add(THOUSAND, 30, 20, NONE, 6);
        add(THOUSAND, 900, 20, HALF, 2);
        final BenchResult result = report(THOUSAND).results().getFirst();
        assertEquals("growth/queues/1000", result.name());
        assertEquals(1.5, result.ratio(), 1e-9);
        assertEquals(6, result.runs());
        assertEquals("c", result.baselineName());
        assertTrue(GrowthReport.isGrowth(result));
        assertFalse(text(report(THOUSAND)).contains("~"));
    }

    @Test
    void shouldCountAllRoundsAndMarkThePointIfTooFewWereUndisturbed() {
        add(THOUSAND, 30, 20, NONE, 2);
        add(THOUSAND, 60, 20, HALF, 6);
        final GrowthReport report = report(THOUSAND);
        assertEquals(8, report.results().getFirst().runs());
        final String text = text(report);
        assertTrue(text.contains("       1,000~        60.00        20.00  3.000"), text);
        assertTrue(text.contains("~ fewer than 6 rounds"), text);
    }

    @Test
    void shouldPrintATableForEachAxisAndMarkMoreThreadsThanCpus() {
        add(ONE, 3, 2, NONE, 6);
        add(PAIR, 9, 3, NONE, 6);
        final String text = text(report(ONE, PAIR));
        assertTrue(text.contains("queues in the round of a poller, one of them busy: ns a completion\n"), text);
        assertTrue(text.contains("pollers, each with its queue, ring and handler: ns a completion\n"), text);
        assertTrue(text.contains("           2*         9.00         3.00  3.000 (3.000 to 3.000)"), text);
        assertTrue(text.contains("* more hot threads than the 2 CPUs, for instance 4"), text);
        assertTrue(text.contains("not measured, with fewer CPUs than pollers: 3, 4, 5, 6, 7, 8 pollers"), text);
        assertFalse(text.contains("slots of the ring"), "an axis without points: " + text);
        assertTrue(text.lines().allMatch(line -> line.length() <= 130), text);
    }

    @Test
    void shouldCompareAdaptiveWithPlainRoundsWhereTheyDiffer() {
        for (final int queues : new int[] {50, 100, 1_000}) {
            final GrowthPoint point = new GrowthPoint(GrowthAxis.QUEUES, queues, GrowthMeasure.DELAY);
            add(point, 300, 200, NONE, 6);
            for (int round = 0; round < 6 && queues > 64; round++) {
                windows.add(new GrowthWindow(round, point, "ringpoll-plain-rounds", 1_200, round == 0 ? HALF : NONE, ""));
            }
        }
        final GrowthReport report = report(windows.stream().map(GrowthWindow::point).distinct().toArray(GrowthPoint[]::new));
        assertEquals(List.of("c", "c", "c", "ringpoll-plain-rounds", "ringpoll-plain-rounds"),
            report.results().stream().map(BenchResult::baselineName).toList());
        final BenchResult toPlain = report.results().getLast();
        assertEquals("growth/queues/1000/delay-p50", toPlain.name());
        assertEquals(0.25, toPlain.ratio(), 1e-9);
        final String text = text(report);
        assertTrue(text.contains("       queues     ringpoll plain rounds  ratio (95 %)"), text);
        assertTrue(text.contains("       1,000~       300.00     1,200.00  0.250 (0.250 to 0.250)"), text);
        assertEquals(2, text.lines().filter(line -> line.contains("1,200.00")).count(), text);
        assertTrue(text.contains("~ fewer than 6 rounds"), text);
        assertEquals("{ringpoll={50=300.0, 100=300.0, 1000=300.0}, C={50=200.0, 100=200.0, 1000=200.0}, "
            + "plain rounds={100=1200.0, 1000=1200.0}}", report.lines(GrowthAxis.QUEUES, GrowthMeasure.DELAY).toString());
        assertEquals("{ringpoll={}}", report.lines(GrowthAxis.QUEUES, GrowthMeasure.COST).toString());
    }

    @Test
    void shouldReportATurnThatLostCompletions() {
        add(ONE, 3, 2, NONE, 6);
        windows.add(new GrowthWindow(6, ONE, "c", 2, NONE, "polled 9 completions, handled 8"));
        final GrowthReport report = report(ONE);
        assertEquals(List.of("growth/queues/1, c, round 6: polled 9 completions, handled 8"), report.faults());
        assertTrue(text(report).contains("wrong: growth/queues/1, c, round 6"), text(report));
    }

    @Test
    void shouldPrintAPointWithoutAnyFigure() {
        add(ONE, Double.POSITIVE_INFINITY, 2, NONE, 6);
        assertEquals(List.of(), report(ONE).results());
        assertTrue(text(report(ONE)).contains("           1~            -            -  -"), text(report(ONE)));
    }

    @Test
    void shouldAddTurnsAndMarksToTheDocument() {
        add(ONE, 3, 2, NONE, 6);
        add(PAIR, 9, 3, HALF, 6);
        final ObjectNode root = JsonNodeFactory.instance.objectNode();
        report(ONE, PAIR).addTo(root);
        final ObjectNode growth = (ObjectNode) root.get("growth");
        assertEquals(24, growth.get("windows").size());
        assertEquals("[\"growth/pollers/2\"]", growth.get("moreThreadsThanCpus").toString());
        assertEquals("[\"growth/pollers/2\"]", growth.get("disturbed").toString());
    }

    @Test
    void shouldPlotOnlyAxesWithFigures() throws Exception {
        add(ONE, 3, 2, NONE, 6);
        add(THOUSAND, 30, 20, NONE, 6);
        report(ONE, THOUSAND).plot(folder);
        try (var files = Files.list(folder)) {
            assertEquals(List.of("growth-queues-dark.svg", "growth-queues.png", "growth-queues.svg"),
                files.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }
}
