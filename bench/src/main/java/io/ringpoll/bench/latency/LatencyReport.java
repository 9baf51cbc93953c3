package io.ringpoll.bench.latency;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Interval;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * Formats the runs of one measurement as a table, as JSON, and as ratios.
 *
 * @param name label of the measurement in results
 * @param runs the runs, ringpoll first
 */
record LatencyReport(String name, List<LatencyRun> runs) {
    /** The percentiles of the table and of JSON. */
    static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};

    private static final double[] BY_TURN = {50, 90, 99, 99.9};
    /** Appended to the name of a percentile of all turns together. */
    private static final String POOLED = "-pooled";

    /**
     * The ratios of ringpoll to each baseline: percentiles turn by turn, and of all turns together. Turns in which a thread lost
     * its CPU are included, since that is not caused by the contestant and the median excludes outliers; the marks have the
     * number of such turns.
     */
    List<BenchResult> results() {
        final List<BenchResult> results = new ArrayList<>();
        final LatencyRun ours = runs.getFirst();
        for (final LatencyRun theirs : runs.subList(1, runs.size())) {
            final int[] rounds = IntStream.range(0, ours.windows().size())
                .filter(round -> isUsable(ours.windows().get(round)) && isUsable(theirs.windows().get(round))).toArray();
            if (rounds.length > 0) {
                addByTurn(ours, theirs, rounds, results);
                addPooled(ours, theirs, rounds, results);
            }
        }
        return results;
    }

    private void addByTurn(
        final LatencyRun ours, final LatencyRun theirs, final int[] rounds, final List<BenchResult> results) {
        for (final double percentile : BY_TURN) {
            results.add(BenchResult.ofCosts(name + "/p" + label(percentile), byRound(ours, rounds, percentile),
                byRound(theirs, rounds, percentile), theirs.label()));
        }
    }

    private static double[] byRound(final LatencyRun run, final int[] rounds, final double percentile) {
        return IntStream.of(rounds).mapToDouble(round -> Math.max(1, run.windows().get(round).percentileNs(percentile)))
            .toArray();
    }

    private void addPooled(
        final LatencyRun ours, final LatencyRun theirs, final int[] rounds, final List<BenchResult> results) {
        final PooledLatencies our = pooled(ours, rounds);
        final PooledLatencies their = pooled(theirs, rounds);
        final int[] all = IntStream.range(0, rounds.length).toArray();
        for (final double percentile : PERCENTILES) {
            final double ourNs = our.percentileNs(percentile, all);
            final double theirNs = Math.max(1, their.percentileNs(percentile, all));
            final Interval interval = Interval.of(rounds.length, draw ->
                our.percentileNs(percentile, draw) / Math.max(1, their.percentileNs(percentile, draw)));
            results.add(BenchResult.ofCosts(name + "/p" + label(percentile) + POOLED, byRound(ours, rounds, percentile),
                byRound(theirs, rounds, percentile), theirs.label()).with(ourNs, theirNs, interval));
        }
    }

    private static PooledLatencies pooled(final LatencyRun run, final int[] rounds) {
        return new PooledLatencies(IntStream.of(rounds).mapToObj(round -> run.windows().get(round).latencyNs()).toList());
    }

    /** Whether no run is marked. */
    boolean isClean() {
        return runs.stream().allMatch(run -> run.marks().isEmpty());
    }

    /** The runs without a recorded latency, for a message. */
    Stream<String> unrecorded() {
        return runs.stream().filter(run -> run.total().getTotalCount() == 0).map(run -> run.label() + " in " + name +
            run.windows().stream().map(LatencyWindow::fault).filter(fault -> !fault.isEmpty()).findFirst()
                .map(fault -> " (" + fault + ")").orElse(": a longer --duration or a higher --rate is needed"));
    }

    void printTable(final PrintWriter out) {
        printHead(name, out);
        runs.forEach(run -> printRow(run.label(), run.total(), out));
        if (runs.getFirst().windows().size() > 1) {
            printByTurn(out);
        }
        printSplits(out);
        printAllocations(out);
        for (final LatencyRun run : runs) {
            if (!run.marks().isEmpty()) {
                out.println(run.label() + ": " + run.marks().stream().map(mark -> describe(mark, run))
                    .collect(Collectors.joining(", ")));
            }
        }
        out.flush();
    }

    private static void printHead(final String title, final PrintWriter out) {
        out.printf("%n%s, ns%n%-26s %12s %8s %8s %8s %8s %8s %9s %9s %10s %12s%n", title, "", "count", "min", "median", "mean",
            "std dev", "p90", "p99", "p99.9", "p99.99", "max");
    }

    private static void printRow(final String label, final Histogram total, final PrintWriter out) {
        out.printf(Locale.ROOT, "%-26s %,12d %,8d %,8d %,8.0f %,8.0f %,8d %,9d %,9d %,10d %,12d%n", label,
            total.getTotalCount(), total.getMinValue(), total.getValueAtPercentile(50), total.getMean(),
            total.getStdDeviation(), total.getValueAtPercentile(90), total.getValueAtPercentile(99),
            total.getValueAtPercentile(99.9), total.getValueAtPercentile(99.99), total.getMaxValue());
    }

    /** The parts of the time of each run that has them. */
    private void printSplits(final PrintWriter out) {
        for (final LatencyRun run : runs) {
            run.split().ifPresent(split -> {
                printHead("time of a completion of " + run.label(), out);
                printRow("device to poll", split.deviceToPollNs(), out);
                printRow("poll to handler", split.pollToHandlerNs(), out);
                if (split.negative() > 0) {
                    out.printf(Locale.ROOT, "%,d were polled before their timestamp, by up to %,d ns: the error of the"
                        + " conversion%n", split.negative(), -split.lowestNs());
                }
            });
        }
    }

    private void printAllocations(final PrintWriter out) {
        final String allocated = runs.stream().filter(run -> !Double.isNaN(run.allocatedBytes()))
            .map(run -> String.format(Locale.ROOT, "%s %.2f", run.label(), run.allocatedBytes()))
            .collect(Collectors.joining(", "));
        if (!allocated.isEmpty()) {
            out.printf("%nallocated for each completion, bytes: %s%n", allocated);
        }
    }

    private void printByTurn(final PrintWriter out) {
        out.printf("%nmedians over turns (in brackets: distance between the quartiles)%n%-26s %16s %16s %16s %18s%n", "", "p50",
            "p90", "p99", "p99.9");
        for (final LatencyRun run : runs) {
            out.printf("%-26s", run.label());
            for (final double percentile : BY_TURN) {
                out.printf(Locale.ROOT, " %,9.0f (%,.0f)", run.byTurn(percentile).median(), run.byTurn(percentile).width());
            }
            out.println();
        }
        for (final BenchResult result : results()) {
            out.printf(Locale.ROOT, "  %s: ours / %s %s, %s, over %d rounds%n", result.name(), result.baselineName(),
                result.ratioText(), result.difference(), result.runs());
        }
    }

    /** Adds all runs with their turns. */
    void addTo(final ObjectNode root) {
        final ObjectNode measurement = root.withArray("latencies").addObject();
        measurement.put("name", name).put("unit", "ns");
        final ArrayNode array = measurement.putArray("runs");
        for (final LatencyRun run : runs) {
            final ObjectNode node = array.addObject();
            final Histogram total = run.total();
            node.put("name", run.label());
            addDistribution(node, total);
            run.split().ifPresent(split -> {
                final ObjectNode parts = node.putObject("split");
                addDistribution(parts.putObject("deviceToPoll"), split.deviceToPollNs());
                addDistribution(parts.putObject("pollToHandler"), split.pollToHandlerNs());
                parts.put("negative", split.negative()).put("lowest", split.lowestNs());
            });
            final ArrayNode marks = node.putArray("marks");
            run.marks().forEach(mark -> marks.add(mark.toString()));
            final ArrayNode turns = node.putArray("turns");
            run.windows().forEach(window -> addTurn(turns.addObject(), window));
        }
    }

    private static void addDistribution(final ObjectNode node, final Histogram total) {
        node.put("count", total.getTotalCount()).put("min", total.getMinValue())
            .put("median", total.getValueAtPercentile(50)).put("mean", Math.round(total.getMean() * 10) / 10.0)
            .put("stdDeviation", Math.round(total.getStdDeviation() * 10) / 10.0);
        for (final double percentile : PERCENTILES) {
            node.put("p" + label(percentile), total.getValueAtPercentile(percentile));
        }
        node.put("max", total.getMaxValue());
    }

    private static void addTurn(final ObjectNode turn, final LatencyWindow window) {
        turn.put("round", window.round()).put("count", window.latencyNs().getTotalCount()).put("due", window.due())
            .put("onTime", window.onTime());
        for (final double percentile : PERCENTILES) {
            turn.put("p" + label(percentile), window.percentileNs(percentile));
        }
        turn.put("max", window.latencyNs().getMaxValue()).put("longestGapNs", window.longestGapNs())
            .put("runDelayNs", window.loss().runDelayNs()).put("stealNs", window.loss().stealNs())
            .put("involuntarySwitches", window.loss().involuntarySwitches()).put("lostCpu", window.lostCpu());
        if (!Double.isNaN(window.allocatedBytes())) {
            turn.put("allocatedBytes", window.allocatedBytes());
        }
        if (!window.fault().isEmpty()) {
            turn.put("fault", window.fault());
        }
    }

    private static boolean isUsable(final LatencyWindow window) {
        return window.fault().isEmpty() && window.latencyNs().getTotalCount() > 0;
    }

    private static String describe(final RunMark mark, final LatencyRun run) {
        return switch (mark) {
            case LOST_CPU -> mark + " in " + run.turnsWithoutCpu() + " of " + run.windows().size() + " turns";
            case FAULTY -> run.windows().stream().map(LatencyWindow::fault).filter(fault -> !fault.isEmpty()).findFirst()
                .orElse("nothing was recorded") + " in " + run.faultyTurns() + " of " + run.windows().size() + " turns";
            default -> mark.toString();
        };
    }

    private static String label(final double percentile) {
        return percentile == Math.rint(percentile) ? Integer.toString((int) percentile) : Double.toString(percentile);
    }
}
