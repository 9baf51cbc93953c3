package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CpuWatchTest {
    @TempDir
    private Path proc;

    @BeforeEach
    void machine() throws IOException {
        steal(100, 100, 100);
        thread(11, "bench-poller", 5_000, 3);
        thread(12, "bench-handler", 7_000, 1);
        thread(13, "C2 CompilerThre", 1_000_000, 100);
    }

    @Test
    void shouldSumTheLossOfHotThreadsOnly() throws IOException {
        final CpuWatch watch = new CpuWatch(proc);
        watch.start();
        thread(11, "bench-poller", 5_400, 5);
        thread(12, "bench-handler", 7_100, 1);
        thread(13, "C2 CompilerThre", 9_000_000, 900);
        final CpuLoss loss = watch.stop();
        assertEquals(500, loss.runDelayNs());
        assertEquals(2, loss.involuntarySwitches());
        assertEquals(0, loss.stealNs());
    }

    @Test
    void shouldCountStealTimeOnCpusOfHotThreadsOnly() throws IOException {
        runsOn(11, 0);
        runsOn(12, 2);
        runsOn(13, 1);
        final CpuWatch watch = new CpuWatch(proc);
        watch.start();
        steal(103, 150, 101);
        assertEquals(TimeUnit.MILLISECONDS.toNanos(40), watch.stop().stealNs());
    }

    @Test
    void shouldCountStealTimeOnTheCpuToWhichAHotThreadMoves() throws IOException {
        runsOn(11, 0);
        final CpuWatch watch = new CpuWatch(proc);
        watch.start();
        runsOn(11, 1);
        steal(101, 102, 150);
        assertEquals(TimeUnit.MILLISECONDS.toNanos(30), watch.stop().stealNs());
    }

    @Test
    void shouldLeaveOutThreadsThatWereNotThereAllTheTime() throws IOException {
        final CpuWatch watch = new CpuWatch(proc);
        watch.start();
        thread(14, "bench-late", 4_000, 4);
        Files.delete(proc.resolve("self/task/12/comm"));
        assertEquals(0, watch.stop().runDelayNs());
    }

    @Test
    void shouldReportNoLossWithoutTheCountersOfTheKernel() {
        final CpuWatch watch = new CpuWatch(proc.resolve("nothing"));
        watch.start();
        assertEquals(0, watch.stop().lostNs());
    }

    @Test
    void shouldCallAThousandthOfTheTimeSignificant() {
        final long second = TimeUnit.SECONDS.toNanos(1);
        assertFalse(new CpuLoss(second, 999_999, 0, 9).isSignificant());
        assertTrue(new CpuLoss(second, 500_000, 500_000, 0).isSignificant());
        assertEquals(500_000, new CpuLoss(second, 900_000, 500_000, 0).stolenOnly().lostNs());
    }

    private void steal(final long... ticksOfCpus) throws IOException {
        final StringBuilder text = new StringBuilder("cpu  1 2 3 4 5 6 7 " + LongStream.of(ticksOfCpus).sum() + " 0 0\n");
        for (int cpu = 0; cpu < ticksOfCpus.length; cpu++) {
            text.append("cpu").append(cpu).append(" 1 2 3 4 5 6 7 ").append(ticksOfCpus[cpu]).append(" 0 0\n");
        }
        Files.writeString(proc.resolve("stat"), text + "intr 1 2 3\n");
    }

    private void runsOn(final int id, final int cpu) throws IOException {
        // The CPU is field 39; the name may look like several fields.
        Files.writeString(proc.resolve("self/task/" + id + "/stat"),
            id + " (bench-) R (x) S" + " 0".repeat(35) + " " + cpu + " 0 0\n");
    }

    private void thread(final int id, final String name, final long runDelayNs, final long switches) throws IOException {
        final Path task = Files.createDirectories(proc.resolve("self/task/" + id));
        Files.writeString(task.resolve("comm"), name + "\n");
        Files.writeString(task.resolve("schedstat"), "123456 " + runDelayNs + " 42\n");
        Files.writeString(task.resolve("status"),
            "Name:\t" + name + "\nvoluntary_ctxt_switches:\t99\nnonvoluntary_ctxt_switches:\t" + switches + "\n");
    }
}
