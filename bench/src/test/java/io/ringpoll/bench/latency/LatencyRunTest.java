package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.CpuLoss;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LatencyRunTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final CpuLoss NO_LOSS = new CpuLoss(SECOND_NS, 0, 0, 0);
    private static final CpuLoss LOSS = new CpuLoss(SECOND_NS, 2_000_000, 0, 3);
    private static final HotCpus PINNED = new HotCpus(1, List.of(0));

    @Test
    void shouldNotMarkARunThatKeptItsRateAndItsCpus() {
        final LatencyRun run = run(PINNED, window(0, 100, 1_000, 1_000, NO_LOSS), window(1, 100, 1_000, 999, NO_LOSS));
        assertEquals(Set.of(), run.marks());
    }

    @Test
    void shouldMarkARunThatHandledLessThanWasDue() {
        final LatencyRun run = run(PINNED, window(0, 100, 1_000, 1_000, NO_LOSS), window(1, 100, 1_000, 979, NO_LOSS));
        assertEquals(Set.of(RunMark.MISSED_RATE), run.marks());
    }

    @Test
    void shouldNotExpectARateOfAClosedLoop() {
        assertEquals(Set.of(), run(PINNED, window(0, 100, 0, 0, NO_LOSS)).marks());
    }

    @Test
    void shouldMarkARunThatLostItsCpuAndCountTheTurns() {
        final LatencyRun run = run(PINNED, window(0, 100, 0, 0, LOSS), window(1, 100, 0, 0, NO_LOSS));
        assertEquals(Set.of(RunMark.LOST_CPU), run.marks());
        assertEquals(1, run.turnsWithoutCpu());
    }

    @Test
    void shouldMarkThreadsThatWereNotPinnedOrSharedACpu() {
        assertEquals(Set.of(RunMark.NOT_PINNED), run(HotCpus.unpinned(), window(0, 100, 0, 0, NO_LOSS)).marks());
        assertEquals(Set.of(RunMark.NOT_PINNED),
            run(new HotCpus(1, List.of(HotCpus.ANY)), window(0, 100, 0, 0, NO_LOSS)).marks());
        assertEquals(Set.of(RunMark.SHARED_CPU),
            run(new HotCpus(1, List.of(1)), window(0, 100, 0, 0, NO_LOSS)).marks());
    }

    @Test
    void shouldMarkATurnThatRecordedNothing() {
        final LatencyWindow empty = new LatencyWindow(0, "ringpoll", new Histogram(3), 0, 0, NO_LOSS, 0, "");
        assertEquals(Set.of(RunMark.FAULTY), run(PINNED, empty).marks());
    }

    @Test
    void shouldLeaveATurnThatRecordedNothingOutOfTheMedians() {
        final LatencyWindow hung = new LatencyWindow(1, "ringpoll", new Histogram(3), 0, 0, NO_LOSS, 0, "it hung");
        final LatencyRun run = run(PINNED, window(0, 100, 0, 0, NO_LOSS), hung, window(2, 102, 0, 0, NO_LOSS));
        assertEquals(101, run.byTurn(50).median());
        assertEquals(1, run.faultyTurns());
        assertEquals(0, run(PINNED, hung).byTurn(50).median());
    }

    @Test
    void shouldNotLetOneBadTurnHideTheOthers() {
        final LatencyRun run = run(PINNED, window(0, 100, 0, 0, NO_LOSS), window(1, 1_000_000, 0, 0, NO_LOSS),
            window(2, 101, 0, 0, NO_LOSS));
        assertEquals(101, run.byTurn(99).median());
        assertTrue(run.total().getMaxValue() >= 1_000_000, "but it is shown in the total");
    }

    @Test
    void shouldCompareAllRoundsAndLetTheMedianLeaveOutTheOneThatLostItsCpu() {
        final LatencyRun ours = run(PINNED, window(0, 110, 0, 0, NO_LOSS), window(1, 500, 0, 0, LOSS),
            window(2, 120, 0, 0, NO_LOSS));
        final LatencyRun theirs = LatencyRun.of("c", List.of(window(0, 100, 0, 0, NO_LOSS), window(1, 100, 0, 0, NO_LOSS),
            window(2, 100, 0, 0, NO_LOSS)), PINNED, 1);
        final BenchResult median = new LatencyReport("latency", List.of(ours, theirs)).results().getFirst();
        assertEquals("latency/p50", median.name());
        assertEquals("c", median.baselineName());
        assertEquals(3, median.runs());
        assertEquals(1.2, median.ratio(), 1e-9);
        assertEquals(Set.of(RunMark.LOST_CPU), ours.marks());
    }

    private static LatencyRun run(final HotCpus cpus, final LatencyWindow... windows) {
        return LatencyRun.of("ringpoll", List.of(windows), cpus, 1);
    }

    private static LatencyWindow window(
        final int round, final long latencyNs, final long due, final long onTime, final CpuLoss loss) {
        final Histogram histogram = new Histogram(3);
        histogram.recordValueWithCount(latencyNs, 1_000);
        return new LatencyWindow(round, "ringpoll", histogram, due, onTime, loss, 0, "");
    }
}
