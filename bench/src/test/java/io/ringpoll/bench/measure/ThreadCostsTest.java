package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.ThreadCosts.Cost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Wake-ups and processor time of threads, and the ticks of the processors, by the counters of the kernel. */
@Timeout(60)
class ThreadCostsTest {
    private static final int NAPS = 50;

    @TempDir
    private Path tasks;

    @Test
    void shouldAddUpThreadsOfAKindFromTheEarlierMomentOn() throws IOException {
        task("17", "odd) (name 1", 10, 7_000, 30, 10);
        task("18", "odd 2", 5, 1_000, 0, 0);
        task("19", "gone", 100, 9_000, 1, 1);
        final ThreadCosts earlier = new ThreadCosts(tasks);
        task("17", "odd) (name 1", 14, 9_000, 30, 13);
        task("18", "odd 2", 6, 1_500, 1, 0);
        task("20", "new", 2, 400, 0, 0);
        Files.delete(tasks.resolve("19/status"));
        final Map<String, Cost> costs = new ThreadCosts(tasks).since(earlier, name -> name.substring(0, 3));
        assertEquals(Map.of("odd", new Cost(5, 2_500, 1, 3), "new", new Cost(2, 400, 0, 0)), costs);
        assertEquals(1_875, costs.get("odd").kernelNs());
        assertEquals(0, costs.get("new").kernelNs());
    }

    private void task(
        final String id, final String name, final long wakeUps, final long cpuNs, final long userTicks, final long kernelTicks)
        throws IOException {
        final Path task = Files.createDirectories(tasks.resolve(id));
        Files.writeString(task.resolve("stat"),
            id + " (" + name + ") S 1 2 3 4 5 6 7 8 9 10 " + userTicks + " " + kernelTicks + " 0 0 20\n");
        Files.writeString(task.resolve("schedstat"), cpuNs + " 55 66\n");
        Files.writeString(task.resolve("status"),
            "Name:\tx\nvoluntary_ctxt_switches:\t" + wakeUps + "\nnonvoluntary_ctxt_switches:\t99\n");
    }

    @Test
    void shouldCountEachSleepOfAThread() throws InterruptedException {
        final ThreadCosts before = ThreadCosts.ofThisProcess();
        final CountDownLatch slept = new CountDownLatch(1);
        final CountDownLatch counted = new CountDownLatch(1);
        final Thread sleeper = Thread.ofPlatform().name("a-sleeper").start(() -> {
            try {
                for (int i = 0; i < NAPS; i++) {
                    Thread.sleep(5);
                }
                slept.countDown();
                counted.await();
            } catch (final InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
        });
        slept.await();
        final Cost cost = ThreadCosts.ofThisProcess().since(before, UnaryOperator.identity()).get("a-sleeper");
        counted.countDown();
        sleeper.join();
        assertNotNull(cost, "the kernel has no counters of threads");
        // A thread that was runnable but not running when its time arrived was not woken.
        assertTrue(cost.wakeUps() >= NAPS / 2 && cost.cpuNs() > 0, cost.toString());
    }

    @Test
    void shouldCountTheTicksOfTheProcessorsByUse() {
        final MachineTicks ticks = MachineTicks.parse("cpu  100 20 30 5000 40 3 4 90 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
        assertEquals(new MachineTicks(120, 30, 7), ticks);
        assertEquals(new MachineTicks(20, 10, 2), ticks.since(new MachineTicks(100, 20, 5)));
    }
}
