package io.ringpoll.bench.measure;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The costs of the threads of this process up to a moment, by the counters of the kernel: wake-ups and processor time. Immutable.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html">proc_pid_stat(5): utime, stime</a>
 * @see <a href="https://docs.kernel.org/scheduler/sched-stats.html">schedstat: time on the processor, in nanoseconds</a>
 */
public final class ThreadCosts {
    private static final String WAKE_UPS = "voluntary_ctxt_switches:";
    /** After the name, which is in brackets and may contain any character. */
    private static final int USER_TICKS_FIELD = 11;

    private final Map<String, Thread> threads = new HashMap<>();

    /** A thread, identified by the 15 characters of its name that the kernel keeps. */
    private record Thread(String name, Cost cost) {
    }

    /**
     * The costs of one or several threads.
     *
     * @param wakeUps     number of times that they went to sleep and were woken
     * @param cpuNs       processor time, in nanoseconds
     * @param userTicks   clock ticks in user mode
     * @param kernelTicks clock ticks in kernel mode
     */
    public record Cost(long wakeUps, long cpuNs, long userTicks, long kernelTicks) {
        /** No costs. */
        public static final Cost NONE = new Cost(0, 0, 0, 0);

        /**
         * Adds costs.
         *
         * @param other costs of further threads
         * @return the sum
         */
        public Cost plus(final Cost other) {
            return new Cost(wakeUps + other.wakeUps, cpuNs + other.cpuNs, userTicks + other.userTicks,
                kernelTicks + other.kernelTicks);
        }

        private Cost minus(final Cost earlier) {
            return new Cost(wakeUps - earlier.wakeUps, cpuNs - earlier.cpuNs, userTicks - earlier.userTicks,
                kernelTicks - earlier.kernelTicks);
        }

        /**
         * The processor time in kernel mode, by the sampling of the kernel clock.
         *
         * @return nanoseconds
         */
        public long kernelNs() {
            final long ticks = userTicks + kernelTicks;
            return ticks == 0 ? 0 : Math.round((double) cpuNs * kernelTicks / ticks);
        }
    }

    /**
     * Reads the costs of this process.
     *
     * @return its present threads
     */
    public static ThreadCosts ofThisProcess() {
        return new ThreadCosts(Path.of("/proc/self/task"));
    }

    ThreadCosts(final Path tasks) {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
            for (final Path task : all) {
                read(task);
            }
        } catch (final IOException unknown) {
            // Without these counters of the kernel, all costs are 0.
            threads.clear();
        }
    }

    /** A thread may end while it is read: then it is left out. */
    private void read(final Path task) {
        try {
            final String stat = Files.readString(task.resolve("stat"));
            final int nameEnd = stat.lastIndexOf(')');
            final String[] fields = stat.substring(nameEnd + 2).split(" ");
            final long cpuNs = Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]);
            final long wakeUps = Files.readString(task.resolve("status")).lines().filter(line -> line.startsWith(WAKE_UPS))
                .mapToLong(line -> Long.parseLong(line.substring(WAKE_UPS.length()).strip())).sum();
            threads.put(task.getFileName().toString(), new Thread(stat.substring(stat.indexOf('(') + 1, nameEnd), new Cost(
                wakeUps, cpuNs, Long.parseLong(fields[USER_TICKS_FIELD]), Long.parseLong(fields[USER_TICKS_FIELD + 1]))));
        } catch (final IOException ended) {
            threads.remove(task.getFileName().toString());
        }
    }

    /**
     * The costs since an earlier moment, of the threads that exist now.
     *
     * @param earlier the other moment
     * @param kind    kind of a thread, by the 15 characters of its name that the kernel keeps
     * @return costs by kind
     */
    public Map<String, Cost> since(final ThreadCosts earlier, final UnaryOperator<String> kind) {
        final Map<String, Cost> costs = new TreeMap<>();
        threads.forEach((id, thread) -> {
            final Thread before = earlier.threads.get(id);
            costs.merge(kind.apply(thread.name), before == null ? thread.cost : thread.cost.minus(before.cost), Cost::plus);
        });
        return costs;
    }
}
