package io.ringpoll.bench.latency;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
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

    /**
     * The ratios of ringpoll to each baseline: percentiles turn by turn. Turns in which a thread lost its CPU are included, since
     * that is not caused by the contestant and the median excludes outliers; the marks have the number of such turns.
     */
    List<BenchResult> results() {
        final List<BenchResult> results = new ArrayList<>();
        final LatencyRun ours = runs.getFirst();
        for (final LatencyRun theirs : runs.subList(1, runs.size())) {
            for (final double percentile : BY_TURN) {
                final List<double[]> pairs = new ArrayList<>();
                for (int round = 0; round < ours.windows().size(); round++) {
                    final LatencyWindow our = ours.windows().get(round);
                    final LatencyWindow their = theirs.windows().get(round);
                    if (isUsable(our) && isUsable(their)) {
                        pairs.add(new double[] {our.percentileNs(percentile), Math.max(1, their.percentileNs(percentile))});
                    }
                }
                if (!pairs.isEmpty()) {
                    results.add(BenchResult.ofCosts(name + "/p" + label(percentile),
                        pairs.stream().mapToDouble(pair -> pair[0]).toArray(),
                        pairs.stream().mapToDouble(pair -> pair[1]).toArray(), theirs.label()));
                }
            }
        }
        return results;
    }

    /** Whether no run is marked. */
    boolean isClean() {
        return runs.stream().allMatch(run -> run.marks().isEmpty());
    }

    void printTable(final PrintWriter out) {
        out.printf("%n%s, ns%n%-26s %12s %8s %8s %8s %8s %8s %9s %9s %10s %12s%n", name, "", "count", "min", "median", "mean",
            "std dev", "p90", "p99", "p99.9", "p99.99", "max");
        for (final LatencyRun run : runs) {
            final Histogram total = run.total();
            out.printf(Locale.ROOT, "%-26s %,12d %,8d %,8d %,8.0f %,8.0f %,8d %,9d %,9d %,10d %,12d%n", run.label(),
                total.getTotalCount(), total.getMinValue(), total.getValueAtPercentile(50), total.getMean(),
                total.getStdDeviation(), total.getValueAtPercentile(90), total.getValueAtPercentile(99),
                total.getValueAtPercentile(99.9), total.getValueAtPercentile(99.99), total.getMaxValue());
        }
        if (runs.getFirst().windows().size() > 1) {
            printByTurn(out);
        }
        for (final LatencyRun run : runs) {
            if (!run.marks().isEmpty()) {
                out.println(run.label() + ": " + run.marks().stream().map(mark -> describe(mark, run))
                    .collect(Collectors.joining(", ")));
            }
        }
        out.flush();
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
            out.printf(Locale.ROOT, "  %s: ours / %s %.3f (%.3f) over %d rounds%n", result.name(), result.baselineName(),
                result.ratio(), result.spread(), result.runs());
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
            node.put("name", run.label()).put("count", total.getTotalCount()).put("min", total.getMinValue())
                .put("median", total.getValueAtPercentile(50)).put("mean", Math.round(total.getMean() * 10) / 10.0)
                .put("stdDeviation", Math.round(total.getStdDeviation() * 10) / 10.0);
            for (final double percentile : PERCENTILES) {
                node.put("p" + label(percentile), total.getValueAtPercentile(percentile));
            }
            node.put("max", total.getMaxValue());
            final ArrayNode marks = node.putArray("marks");
            run.marks().forEach(mark -> marks.add(mark.toString()));
            final ArrayNode turns = node.putArray("turns");
            run.windows().forEach(window -> addTurn(turns.addObject(), window));
        }
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
