package io.ringpoll.bench.measure;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the CPU time that the hot threads of this process lose, by the counters of the kernel: native and Java threads.
 *
 * <p>Hot threads are found by the prefix of their names. Steal time is that of the CPUs on which they ran at the start or at the
 * end; other CPUs do not count. If the kernel has no such counters, the loss is 0. Used by one thread.
 *
 * @see <a href="https://docs.kernel.org/scheduler/sched-stats.html">schedstat: time spent waiting on a run queue</a>
 */
public final class CpuWatch {
    /** The name prefixes of hot threads. */
    public static final String THREAD_PREFIX = "bench-";

    private static final int STEAL_FIELD = 8;
    /** The CPU of a thread in its stat file, counted from the state, which follows the name in parentheses. */
    private static final int CPU_FIELD = 36;
    private static final int RUN_DELAY_FIELD = 1;
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Pattern CPU_ROW = Pattern.compile("cpu(\\d+) ");
    private static final String SWITCHES = "nonvoluntary_ctxt_switches:";

    private final Path proc;
    private List<Path> tasks = List.of();
    private Snapshot start;

    /** The counters of the kernel at one moment. */
    private record Snapshot(long timeNs, Map<Integer, Long> stealTicks, Map<Path, long[]> threads, Set<Integer> cpus) {
    }

    /**
     * Creates a watch of this process.
     *
     * @return not yet started
     */
    public static CpuWatch ofThisProcess() {
        return new CpuWatch(Path.of("/proc"));
    }

    CpuWatch(final Path proc) {
        this.proc = proc;
    }

    /** Starts the measurement. */
    public void start() {
        tasks = hotTasks();
        start = read();
    }

    /**
     * Ends the measurement.
     *
     * @return the loss since the start, of threads that existed all the time
     */
    public CpuLoss stop() {
        final Snapshot end = read();
        long runDelayNs = 0;
        long switches = 0;
        for (final Map.Entry<Path, long[]> thread : end.threads.entrySet()) {
            final long[] before = start.threads.get(thread.getKey());
            if (before != null) {
                runDelayNs += thread.getValue()[0] - before[0];
                switches += thread.getValue()[1] - before[1];
            }
        }
        final Set<Integer> hotCpus = new HashSet<>(start.cpus);
        hotCpus.addAll(end.cpus);
        long stealTicks = 0;
        for (final int cpu : hotCpus) {
            stealTicks += end.stealTicks.getOrDefault(cpu, 0L) - start.stealTicks.getOrDefault(cpu, 0L);
        }
        return new CpuLoss(end.timeNs - start.timeNs, runDelayNs, stealTicks * TICK_NS, switches);
    }

    /** Finds the hot threads: far more expensive than reading their counters. */
    private List<Path> hotTasks() {
        final List<Path> hot = new ArrayList<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(proc.resolve("self/task"))) {
            for (final Path task : tasks) {
                if (text(task.resolve("comm")).startsWith(THREAD_PREFIX)) {
                    hot.add(task);
                }
            }
        } catch (final IOException unknown) {
            hot.clear();
        }
        return hot;
    }

    private Snapshot read() {
        final long timeNs = System.nanoTime();
        final Map<Path, long[]> threads = new HashMap<>();
        final Set<Integer> cpus = new HashSet<>();
        for (final Path task : tasks) {
            if (Files.exists(task.resolve("comm"))) {
                threads.put(task, new long[] {runDelayNs(task), switches(task)});
                addCpu(task, cpus);
            }
        }
        return new Snapshot(timeNs, stealTicks(), threads, cpus);
    }

    private Map<Integer, Long> stealTicks() {
        final Map<Integer, Long> ticks = new HashMap<>();
        for (final String line : text(proc.resolve("stat")).split("\n")) {
            final Matcher row = CPU_ROW.matcher(line);
            if (row.lookingAt()) {
                final String[] fields = line.split("\\s+");
                ticks.put(Integer.valueOf(row.group(1)), fields.length > STEAL_FIELD ? Long.parseLong(fields[STEAL_FIELD]) : 0);
            }
        }
        return ticks;
    }

    private static void addCpu(final Path task, final Set<Integer> cpus) {
        final String stat = text(task.resolve("stat"));
        // A name may contain spaces and parentheses.
        final String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split("\\s+");
        if (fields.length > CPU_FIELD) {
            cpus.add(Integer.valueOf(fields[CPU_FIELD]));
        }
    }

    private static long runDelayNs(final Path task) {
        final String[] fields = text(task.resolve("schedstat")).split("\\s+");
        return fields.length > RUN_DELAY_FIELD ? Long.parseLong(fields[RUN_DELAY_FIELD]) : 0;
    }

    private static long switches(final Path task) {
        return text(task.resolve("status")).lines().filter(line -> line.startsWith(SWITCHES))
            .mapToLong(line -> Long.parseLong(line.substring(SWITCHES.length()).strip())).sum();
    }

    /** The text of a file; empty if it does not exist. */
    private static String text(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException unknown) {
            return "";
        }
    }
}
