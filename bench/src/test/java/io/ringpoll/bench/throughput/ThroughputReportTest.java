package io.ringpoll.bench.throughput;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.CpuLoss;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThroughputReportTest {
    private static final CpuLoss NO_LOSS = new CpuLoss(1_000_000_000, 0, 0, 0);
    private static final CpuLoss LOSS = new CpuLoss(1_000_000_000, 200_000_000, 0, 5);

    private static final List<HandOff> RINGPOLL_AND_C = List.of(new RingpollHandOff(), HandOffs.of("c"));
    private static final double BYTES = 24;
    private static final double EXACT = 1e-9;

    private final StringWriter out = new StringWriter();

    @Test
    void shouldCompareTurnsOfTheSameRoundOnly() {
        final ThroughputReport report = report(RINGPOLL_AND_C, List.of(
            window(0, "ringpoll", 11, 0, NO_LOSS), window(0, "c", 10, 0, NO_LOSS),
            window(1, "ringpoll", 30, 1, NO_LOSS), window(1, "c", 10, 0, NO_LOSS),
            window(2, "ringpoll", 99, 0, LOSS), window(2, "c", 10, 0, NO_LOSS),
            window(3, "ringpoll", 24, 0, NO_LOSS), window(3, "c", 20, 0, NO_LOSS)));
        final List<BenchResult> results = report.results();
        assertEquals(List.of("throughput/1-handlers", "throughput/1-handlers/close"),
            results.stream().map(BenchResult::name).toList());
        // 1.1, 3 and 1.2, in all regimes.
        assertEquals(3, results.getFirst().runs());
        assertEquals(1.2, results.getFirst().ratio(), EXACT);
        assertEquals(2, results.getLast().runs());
        assertEquals(1.15, results.getLast().ratio(), EXACT);
    }

    @Test
    void shouldNotTakeAWindowWithoutCompletionsForOneOfACost() {
        assertEquals(2.5, ThroughputMeter.costNs(10, 4), EXACT);
        assertEquals(Double.POSITIVE_INFINITY, ThroughputMeter.costNs(10, 0));
        assertEquals(Double.POSITIVE_INFINITY, ThroughputMeter.costNs(10, -3));
    }

    @Test
    void shouldPrintAVerdictForEachRegimeThatHasAGoal() {
        final List<ThroughputWindow> windows = new ArrayList<>();
        for (int round = 0; round < 8; round++) {
            windows.add(window(round, "ringpoll", 10, 0, NO_LOSS));
            windows.add(window(round, "c", 10, 0, NO_LOSS));
            windows.add(window(8 + round, "ringpoll", 15, 1, NO_LOSS));
            windows.add(window(8 + round, "c", 10, 1, NO_LOSS));
        }
        report(RINGPOLL_AND_C, windows).print(new PrintWriter(out, true));
        final String text = out.toString();
        assertTrue(text.contains("1 met, 2 missed, 0 not shown"), text);
        final List<String> row = text.lines().filter(line -> line.startsWith("throughput/1-handlers/allocated-per-million "))
            .map(line -> line.replaceAll(" +", " ")).toList();
        assertEquals(List.of("throughput/1-handlers/allocated-per-million nothing "
            + "24000000.0 (24000000.0 to 24000000.0) B <= 0 B missed"), row);
    }

    @Test
    void shouldNotPairTurnsOfDifferentPasses() {
        final ThroughputReport report = report(RINGPOLL_AND_C, List.of(
            asked(Regime.CLOSE, 0, "ringpoll", 11), asked(Regime.CLOSE, 0, "c", 10),
            // In the second pass the machine is ten times as slow.
            asked(Regime.TRAILING, 0, "c", 100), asked(Regime.TRAILING, 0, "ringpoll", 130)));
        final BenchResult all = report.results().getFirst();
        assertEquals(2, all.runs());
        assertEquals((1.1 + 1.3) / 2, all.ratio(), EXACT);
    }

    @Test
    void shouldClaimTheSameRegimeOnlyOfHandOffsThatHaveOne() {
        final ThroughputReport report = report(List.of(new RingpollHandOff(), HandOffs.of("c-bare-loop")), List.of(
            window(0, "ringpoll", 11, 0, NO_LOSS), window(0, "c-bare-loop", 10, 0, NO_LOSS)));
        assertEquals(List.of("throughput/1-handlers"), report.results().stream().map(BenchResult::name).toList());
    }

    @Test
    void shouldPrintTheShareAndTheCostOfEachRegime() {
        report(RINGPOLL_AND_C, List.of(
            window(0, "ringpoll", 11, 0, NO_LOSS), window(0, "c", 10, 0, NO_LOSS),
            window(1, "ringpoll", 13, 0, NO_LOSS), window(1, "c", 10, 0, NO_LOSS),
            window(2, "ringpoll", 15, 0.4, NO_LOSS), window(2, "c", 10, 0, NO_LOSS),
            window(3, "ringpoll", 30, 0.9, NO_LOSS), window(3, "c", 10, 0, NO_LOSS))).printTable(new PrintWriter(out, true));
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("ringpoll +50 % +12.00 +25 % +15.00 +25 % +30.00")),
            out.toString());
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("c +100 % +10.00 +0 % +0 %")), out.toString());
        assertTrue(out.toString().contains("both close: ours / c 1.200, too few runs, over 2 pairs"), out.toString());
    }

    @Test
    void shouldPrintTheBytesAllocatedForACompletion() {
        report(RINGPOLL_AND_C, List.of(window(0, "ringpoll", 11, 0, NO_LOSS),
            new ThroughputWindow(0, "c", Regime.CLOSE, 10, 0, NO_LOSS, AllocationWatch.UNKNOWN, "")))
            .printTable(new PrintWriter(out, true));
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("ringpoll .* 24.00 B")), out.toString());
        assertTrue(out.toString().lines().anyMatch(line -> line.matches("c .* -")), out.toString());
    }

    @Test
    void shouldReportWhyATableIsEmpty() {
        final ThroughputReport report = report(RINGPOLL_AND_C, List.of(
            window(0, "ringpoll", 11, 0, LOSS), window(0, "c", 10, 0, NO_LOSS), window(1, "c", 10, 0, LOSS)));
        report.printTable(new PrintWriter(out, true));
        assertEquals(1, report.unmeasured().size(), "c has a turn that counts");
        assertTrue(report.toJson().contains("\"unmeasured\" : [ \"ringpoll: none of its 1 turns counts"), report.toJson());
        assertTrue(out.toString().contains("ringpoll: none of its 1 turns counts: other threads had its CPUs"), out.toString());
        assertFalse(out.toString().contains("c: none"), out.toString());
    }

    @Test
    void shouldNotCountATurnInWhichSomethingWasLost() {
        final ThroughputWindow window =
            new ThroughputWindow(0, "ringpoll", Regime.CLOSE, 10, 0, NO_LOSS, 0, "polled 4 completions, handled 3");
        assertFalse(window.counts());
        assertFalse(window(0, "ringpoll", Double.POSITIVE_INFINITY, 0, NO_LOSS).counts(), "nothing was handled");
        assertTrue(window(0, "ringpoll", 10, 0, NO_LOSS).counts());
    }

    private static ThroughputReport report(final List<HandOff> handOffs, final List<ThroughputWindow> windows) {
        return new ThroughputReport("1-handlers", handOffs, windows, Optional.empty());
    }

    private static ThroughputWindow window(
        final int round, final String label, final double costNs, final double occupied, final CpuLoss loss) {
        return new ThroughputWindow(round, label, Regime.CLOSE, costNs, occupied, loss, BYTES, "");
    }

    private static ThroughputWindow asked(final Regime asked, final int round, final String label, final double costNs) {
        return new ThroughputWindow(round, label, asked, costNs, 0, NO_LOSS, BYTES, "");
    }
}
