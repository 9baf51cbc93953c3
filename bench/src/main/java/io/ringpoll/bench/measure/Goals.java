package io.ringpoll.bench.measure;

import io.ringpoll.bench.measure.Goal.Figure;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The goals of the project, and the table of their verdicts. The only place that states a goal. */
public final class Goals {
    private static final String C = "c";
    private static final String BY_HAND = "by-hand";
    private static final String NETTY = "netty";
    private static final List<Goal> ALL = List.of(
        new Goal("throughput/1-handlers/close", C, Figure.RATIO, 1.03),
        new Goal("throughput/1-handlers/trailing", C, Figure.RATIO, 1.03),
        new Goal("throughput/3-handlers", C, Figure.RATIO, 1.05),
        new Goal("throughput/1-handlers/close", "plain-disruptor", Figure.RATIO, 0.5),
        new Goal("throughput/1-handlers/allocated-per-million", BenchResult.NOTHING, Figure.BYTES, 0),
        new Goal("throughput/3-handlers/allocated-per-million", BenchResult.NOTHING, Figure.BYTES, 0),
        new Goal("counters/32", "without", Figure.RATIO, 1.15),
        new Goal("poll/32/librpma-counted", C, Figure.RATIO, 1.10),
        new Goal("poll/empty/librpma", C, Figure.EXCESS_NS, 0.5),
        new Goal("poll/empty/direct", C, Figure.EXCESS_NS, 0.5),
        new Goal("poll/empty/timestamps", C, Figure.EXCESS_NS, 1.0),
        new Goal("post/write/64-bytes", C, Figure.RATIO, 1.03),
        new Goal("post/read/64-bytes", C, Figure.RATIO, 1.03),
        new Goal("verbs/list-of-16/send", "single-posts", Figure.RATIO, 0.5),
        new Goal("verbs/list-of-16/write", "single-posts", Figure.RATIO, 0.5),
        new Goal("verbs/list-of-16/receive", "single-posts", Figure.RATIO, 0.5),
        new Goal("verbs/post/write/64-bytes", C, Figure.RATIO, 1.05),
        new Goal("verbs/post/write/64-bytes", "librpma", Figure.RATIO, 0.85),
        new Goal("verbs/post/read/64-bytes", C, Figure.RATIO, 1.05),
        new Goal("verbs/post/read/64-bytes", "librpma", Figure.RATIO, 0.85),
        new Goal("latency/synthetic/1000000-per-second/p50", C, Figure.RATIO, 1.0),
        new Goal("latency/synthetic/1000000-per-second/p90", C, Figure.RATIO, 1.0),
        new Goal("latency/rdma/send-ping-pong/64-bytes/p50", C, Figure.RATIO, 1.0),
        new Goal("echo/1-connections/throughput", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/20-connections/throughput", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1000-connections/throughput", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1-connections/p50", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/20-connections/p50", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1000-connections/p50", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1-connections/p50", C, Figure.RATIO, 1.05),
        new Goal("echo/1-connections/over-verbs/throughput", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1-connections/over-verbs/p50", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1-connections/over-verbs/p50", C, Figure.RATIO, 1.05),
        new Goal("echo/20-connections/over-verbs/throughput", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/20-connections/over-verbs/p50", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/20-connections/over-verbs/p50", C, Figure.RATIO, 1.05),
        new Goal("echo/1000-connections/over-verbs/throughput", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/1000-connections/over-verbs/p50", BY_HAND, Figure.RATIO, 1.03),
        new Goal("echo/20-connections/allocated-per-million", BenchResult.NOTHING, Figure.BYTES, 0),
        new Goal("processes/send-ping-pong/64-bytes/p50", "shared-memory", Figure.RATIO, 3.0),
        new Goal("processes/send-ping-pong/64-bytes/p50", "aeron-ipc", Figure.RATIO, 1.0),
        new Goal("processes/send-ping-pong/64-bytes/p50", "tcp", Figure.RATIO, 1.0),
        new Goal("processes/write/1-MiB", "memcpy", Figure.RATIO, 2.0),
        new Goal("replicate/ringpoll/100-bytes/window-1/p50", NETTY, Figure.RATIO, 0.6),
        new Goal("replicate/ringpoll/100-bytes/window-1/p99", NETTY, Figure.RATIO, 0.7),
        // Five times the appends.
        new Goal("replicate/ringpoll/100-bytes/window-32/append", NETTY, Figure.RATIO, 0.2),
        // Not below Netty's appends.
        new Goal("replicate/ringpoll/100-1000000-bytes/window-8/append", NETTY, Figure.RATIO, 1.0),
        new Goal("replicate/ringpoll/100-bytes/window-1/7-servers/append", NETTY, Figure.RATIO, 1.0),
        new Goal("replicate/ringpoll/100-bytes/window-2/100-groups/append", NETTY, Figure.RATIO, 1.0),
        new Goal("replicate/ringpoll/100-bytes/window-1/processes/p50", NETTY, Figure.RATIO, 0.6),
        new Goal("replicate/ringpoll,idle=yield/100-bytes/window-1/processes/p50", NETTY, Figure.RATIO, 0.6),
        // Three times the appends.
        new Goal("replicate/ringpoll/100-bytes/window-32/processes/append", NETTY, Figure.RATIO, 1.0 / 3),
        // Twice the throughput.
        new Goal("replicate/ringpoll/stream-1000000/window-1", NETTY, Figure.RATIO, 0.5),
        new Goal("replicate/ringpoll/stream-64000000/window-1", NETTY, Figure.RATIO, 0.5));

    private Goals() {
    }

    /**
     * The goals.
     *
     * @return a constant list
     */
    public static List<Goal> all() {
        return ALL;
    }

    /**
     * The goal of a result.
     *
     * @param result a result
     * @return empty if it has none
     */
    public static Optional<Goal> of(final BenchResult result) {
        return ALL.stream().filter(goal -> goal.isAbout(result)).findFirst();
    }

    /**
     * Prints a row for each result with a goal, in the order of the goals, and nothing if there is none.
     *
     * @param results results of a command
     * @param out     text output
     */
    public static void print(final List<BenchResult> results, final PrintWriter out) {
        final Map<Verdict, Integer> counts = new EnumMap<>(Verdict.class);
        final List<String> lines = new ArrayList<>();
        int few = 0;
        for (final Goal goal : ALL) {
            final Set<String> judged = new HashSet<>();
            for (final BenchResult result : results) {
                if (!goal.isAbout(result) || !judged.add(result.name())) {
                    continue;
                }
                few += result.runs() < Interval.FEWEST_RUNS ? 1 : 0;
                final Verdict verdict = goal.verdict(result);
                counts.merge(verdict, 1, Integer::sum);
                lines.add(String.format("%-56s %-18s %-26s %-11s %s", result.name(), goal.baseline(), goal.figureText(result),
                    goal.bound(), verdict));
            }
        }
        if (lines.isEmpty()) {
            return;
        }
        out.printf("%n%-56s %-18s %-26s %-11s %s%n", "figures with a goal", "baseline", "figure (95 %)", "goal", "verdict");
        lines.forEach(out::println);
        for (final Verdict verdict : Verdict.values()) {
            out.printf("%s%d %s", verdict.ordinal() == 0 ? "" : ", ", counts.getOrDefault(verdict, 0), verdict);
        }
        out.println(": the whole interval is within the goal, outside it, or neither (always with fewer than "
            + Interval.FEWEST_RUNS + " runs)");
        if (few > 0) {
            out.println("no verdict on " + few + " figures: they have fewer than " + Interval.FEWEST_RUNS
                + " runs; 'bench --full' or 'replicate --rounds 6' gives one");
        }
    }

    /**
     * The number of goals that the results do not cover.
     *
     * @param results results of a command
     * @return goals without a result
     */
    public static long withoutFigure(final List<BenchResult> results) {
        return ALL.stream().filter(goal -> results.stream().noneMatch(goal::isAbout)).count();
    }
}
