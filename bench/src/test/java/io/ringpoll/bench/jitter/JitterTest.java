package io.ringpoll.bench.jitter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.os.OsException;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.tuning.RecordedTree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("figures")
@Timeout(120)
class JitterTest {
    private static final long MS = 1_000_000;
    private static final CpuCounters NONE = new CpuCounters(List.of(), Map.of());

    @TempDir
    private Path root;

    private final int cpu = ThreadAffinity.get().nextSetBit(0);

    /** A competing thread on the same CPU while the body runs. */
    private interface Body {
        void run() throws Exception;
    }

    private void besideACompetitor(final Body body) throws Exception {
        final AtomicBoolean done = new AtomicBoolean();
        final CountDownLatch there = new CountDownLatch(1);
        final Thread competitor = new Thread(() -> {
            ThreadAffinity.pin(cpu);
            there.countDown();
            while (!done.get()) {
                Thread.onSpinWait();
            }
        });
        competitor.setDaemon(true);
        competitor.start();
        try {
            there.await();
            body.run();
        } finally {
            done.set(true);
            competitor.join();
        }
    }

    @Test
    void shouldSeeInJavaThatAnotherThreadTookTheCpu() throws Exception {
        besideACompetitor(() -> {
            final CpuJitter seen = new JavaJitter(CpuSet.of(cpu), 1_000).run(600 * MS).getFirst();
            assertTrue(seen.lostShare() > 0.2, () -> "lost only " + seen.lostShare());
            assertTrue(seen.gaps().getMaxValue() > MS, () -> "longest gap " + seen.gaps().getMaxValue());
            assertTrue(seen.involuntarySwitches() > 0);
            // A safepoint may suspend the measuring thread.
            assertTrue(seen.voluntarySwitches() < seen.involuntarySwitches(), () -> seen.voluntarySwitches() + " voluntary");
        });
    }

    @Test
    void shouldSeeInCThatAnotherThreadTookTheCpu() throws Exception {
        besideACompetitor(() -> {
            final CpuJitter seen = inC(1_000).run(600 * MS).getFirst();
            assertTrue(seen.lostShare() > 0.2, () -> "lost only " + seen.lostShare());
            assertTrue(seen.gaps().getMaxValue() > MS, () -> "longest gap " + seen.gaps().getMaxValue());
            assertTrue(seen.involuntarySwitches() > 0);
        });
    }

    private CJitter inC(final long floorNs) throws IOException {
        return CJitter.find(CpuSet.of(cpu), floorNs).orElseThrow();
    }

    @Test
    void shouldAccountForTheTimeInCWhenEveryReadingCounts() throws Exception {
        // With a floor of a nanosecond the sum of the gaps is the whole time if the arithmetic of every bucket is correct.
        final CpuJitter c = inC(1).run(300 * MS).getFirst();
        assertTrue(c.spins() > 0 && c.elapsedNs() >= 300 * MS, c::toString);
        // The counting and the clock read after it are left out, by design: half of the time or more, by machine.
        assertTrue(c.lostShare() > 0.1 && c.lostShare() <= 1, () -> "C: " + c.lostShare());
        assertTrue(c.gaps().getTotalCount() <= c.spins());
    }

    @Test
    void shouldRefuseACpuThatIsNotThere() throws Exception {
        final CpuSet none = CpuSet.of(8191);
        assertThrows(OsException.class, () -> new JavaJitter(none, 1_000).run(MS));
        final CJitter c = CJitter.find(none, 1_000).orElseThrow();
        final String message = assertThrows(IOException.class, () -> c.run(MS)).getMessage();
        assertTrue(message.contains("cannot pin to CPU 8191"), message);
    }

    @Test
    void shouldParseTheOutputOfTheLoopInC() throws IOException {
        final String output = """
            cpu 3 spins 1000 elapsed 2000000 voluntary 1 involuntary 2
            gap 3 1500 4
            gap 3 250000 1
            cpu 7 spins 900 elapsed 1000000 voluntary 0 involuntary 0
            """;
        final List<CpuJitter> cpus = CJitter.parse(output, NONE, NONE);
        assertEquals(2, cpus.size());
        final CpuJitter first = cpus.getFirst();
        assertEquals(3, first.cpu());
        assertEquals(1000, first.spins());
        assertEquals(1, first.voluntarySwitches());
        assertEquals(2, first.involuntarySwitches());
        assertEquals(5, first.gaps().getTotalCount());
        assertEquals(1, first.countOver(100_000));
        assertEquals(4, first.countBetween(1_000, 2_000));
        assertEquals(0.128, first.lostShare(), 0.002);
        assertEquals(0, cpus.getLast().gaps().getTotalCount());
        assertEquals(0, cpus.getLast().countOver(1));
    }

    @Test
    void shouldRejectOutputInAnotherFormatThanThatOfTheLoopInC() {
        for (final String output : List.of("nonsense", "gap 3 1 1", "cpu 1 spins x elapsed 1 voluntary 0 involuntary 0")) {
            assertThrows(IOException.class, () -> CJitter.parse(output, NONE, NONE), output);
        }
    }

    @Test
    void shouldAddSlices() {
        final Histogram gaps = SpinLoop.newHistogram();
        gaps.recordValue(5_000);
        final CpuJitter slice = new CpuJitter(1, gaps, 10, 1_000_000, 1, 2, 10 * MS, Map.of("LOC", 3L));
        final CpuJitter sum = slice.plus(slice);
        assertEquals(2, sum.gaps().getTotalCount());
        assertEquals(20, sum.spins());
        assertEquals(2_000_000, sum.elapsedNs());
        assertEquals(2, sum.voluntarySwitches());
        assertEquals(4, sum.involuntarySwitches());
        assertEquals(20 * MS, sum.stolenNs());
        assertEquals(Map.of("LOC", 6L), sum.interrupts());
        assertEquals(slice.lostShare(), sum.lostShare(), 1e-9);
    }

    @Test
    void shouldCountInterruptsByNameAndStealTimeSinceAnEarlierReading() {
        final RecordedTree tree = RecordedTree.named("machine-at-hand").with("proc/stat",
            "cpu  1 1 1\\ncpu1 1 1 1 1 1 1 1 5 0 0");
        final CpuCounters before = CpuCounters.read(tree.expand(root.resolve("before")));
        tree.replacing("proc/interrupts", "virtio3-rx", "virtio3-tx-renamed").with("proc/stat", "cpu1 1 1 1 1 1 1 1 8 0 0")
            .with("proc/interrupts", "           CPU0       CPU1\\n 41:          9         19  PCI-MSIX-0000:00:04.0   "
                + "1-edge      "
                + "virtio3-rx\\nLOC:      0    99999999   Local timer interrupts");
        final MachineFiles later = tree.expand(root.resolve("after"));
        final CpuCounters after = CpuCounters.read(later);
        assertEquals(30 * MS, after.stolenSince(before, 1));
        assertEquals(0, after.stolenSince(before, 0));
        final Map<String, Long> since = after.interruptsSince(before, 1);
        assertEquals(List.of("Local timer interrupts", "virtio3-rx (41)"), List.copyOf(since.keySet()));
        assertEquals(19L, since.get("virtio3-rx (41)"));
    }

    @Test
    void shouldMeasureBothLoopsInTurnsOnEachCpu() throws Exception {
        final CpuSet cpus = CpuSet.of(ThreadAffinity.get().stream().limit(2).toArray());
        Assumptions.assumeFalse(cpus.isEmpty());
        final StringBuilder slices = new StringBuilder();
        final JitterResult result = new JitterMeter(cpus, 200 * MS, true).run((what, done, total) -> slices.append(what)
            .append(' '));
        assertEquals("Java C ", slices.toString());
        assertEquals(cpus.stream().boxed().toList(), result.java().stream().map(CpuJitter::cpu).toList());
        assertEquals(cpus.stream().boxed().toList(), result.c().stream().map(CpuJitter::cpu).toList());
        for (final CpuJitter one : result.java()) {
            assertTrue(one.elapsedNs() >= 200 * MS, one::toString);
            assertTrue(one.spins() > 0);
        }
        assertTrue(result.floorNs() >= 1_000);
        assertTrue(result.clockNs() > 0);
        assertFalse(result.java().getFirst().interrupts().isEmpty());
    }
}
