package io.ringpoll.bench.throughput;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.CpuLoss;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class ThroughputReportTest {
    private static final CpuLoss NO_LOSS = new CpuLoss(1_000_000_000, 0, 0, 0);
    private static final CpuLoss LOSS = new CpuLoss(1_000_000_000, 200_000_000, 0, 5);

    private final StringWriter out = new StringWriter();

    @Test
    void shouldCompareTurnsOfTheSameRoundAndRegimeOnly() {
        final List<HandOff> handOffs = List.of(new RingpollHandOff(), HandOffs.of("c"));
        final ThroughputReport report = report(handOffs, List.of(
            window(0, "ringpoll", 11, 0, NO_LOSS), window(0, "c", 10, 0, NO_LOSS),
            // It ran in the other regime.
            window(1, "ringpoll", 3, 1, NO_LOSS), window(1, "c", 10, 0, NO_LOSS),
            window(2, "ringpoll", 99, 0, LOSS), window(2, "c", 10, 0, NO_LOSS),
            window(3, "ringpoll", 24, 0, NO_LOSS), window(3, "c", 20, 0, NO_LOSS)));
        final List<BenchResult> results = report.results();
        assertEquals(1, results.size(), results.toString());
        assertEquals("throughput/1-handlers/close", results.getFirst().name());
        assertEquals(2, results.getFirst().runs());
        assertEquals(1.15, results.getFirst().ratio(), 1e-9);
    }

    @Test
    void shouldReportWhyATableIsEmpty() {
        final List<HandOff> handOffs = List.of(new RingpollHandOff(), HandOffs.of("c"));
        report(handOffs, List.of(
            window(0, "ringpoll", 11, 0, LOSS), window(0, "c", 10, 0, NO_LOSS))).printTable(new PrintWriter(out, true));
        assertTrue(out.toString().contains("ringpoll: none of its 1 turns counts: other threads had its CPUs"), out.toString());
        assertFalse(out.toString().contains("c: none"), out.toString());
    }

    @Test
    void shouldNotCountATurnInWhichSomethingWasLost() {
        final ThroughputWindow window =
            new ThroughputWindow(0, "ringpoll", Regime.CLOSE, 10, 0, NO_LOSS, "polled 4 completions, handled 3");
        assertFalse(window.counts());
        assertTrue(window(0, "ringpoll", 10, 0, NO_LOSS).counts());
    }

    private static ThroughputReport report(final List<HandOff> handOffs, final List<ThroughputWindow> windows) {
        return new ThroughputReport("1-handlers", handOffs, windows, Optional.empty());
    }

    private static ThroughputWindow window(
        final int round, final String label, final double costNs, final double occupied, final CpuLoss loss) {
        return new ThroughputWindow(round, label, Regime.CLOSE, costNs, occupied, loss, "");
    }
}
