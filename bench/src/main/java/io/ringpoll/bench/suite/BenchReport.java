package io.ringpoll.bench.suite;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Estimate;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.Interval;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The results as a table, with the results of the tools. */
final class BenchReport {
    private static final double DIGITS = 1e4;
    /** JMH itself allocates about 30 kB in an iteration of 200 ms: this much per operation of 300 ns. */
    private static final double NOTHING_BYTES = 0.05;

    private BenchReport() {
    }

    /** The results in the document of a tool. */
    static List<BenchResult> resultsOf(final JsonNode document) {
        final List<BenchResult> results = new ArrayList<>();
        for (final JsonNode node : document.path("results")) {
            results.add(new BenchResult(node.path("name").asText(), node.path("unit").asText(), node.path("ringpoll").asDouble(),
                node.path("baseline").asDouble(), node.path("baselineName").asText(), node.path("ratio").asDouble(),
                node.path("runs").asInt(), node.path("spread").asDouble(), interval(node, "low", "high"),
                new Estimate(node.path("excess").asDouble(), interval(node, "excessLow", "excessHigh"))));
        }
        return results;
    }

    static void printTable(final List<BenchResult> results, final PrintWriter out) {
        out.printf("%n%-44s %4s %12s %12s  %-24s %-24s %8s %5s  %s%n", "", "", "ringpoll", "baseline", "which",
            "ratio (95 %)", "spread", "runs", "our cost");
        for (final BenchResult result : results) {
            out.printf(Locale.ROOT, "%-44s %4s %,12.2f %,12.2f  %-24s %-24s %8.3f %5d  %s%n", result.name(), result.unit(),
                result.ringpoll(), result.baseline(), result.baselineName(), result.ratioText(), result.spread(), result.runs(),
                result.difference());
        }
        out.println("ratio: our cost divided by the baseline's, with its 95 % interval over runs; spread: between its quartiles");
        Goals.print(results, out);
        out.println("goals without a figure in this run: " + Goals.withoutFigure(results) + " (docs/results.md)");
    }

    private static Interval interval(final JsonNode node, final String low, final String high) {
        return node.has(low) ? new Interval(node.path(low).asDouble(), node.path(high).asDouble()) : Interval.UNKNOWN;
    }

    static void printAllocations(final JsonNode allocations, final PrintWriter out) {
        final Set<String> seen = new HashSet<>();
        for (final JsonNode node : allocations) {
            final double bytes = node.path("bytesPerOperation").asDouble();
            if (bytes >= NOTHING_BYTES && seen.add(node.path("name").asText())) {
                out.printf(Locale.ROOT, "%s allocates %.2f bytes an operation%n", node.path("name").asText(), bytes);
            }
        }
    }

    static double rounded(final double value) {
        return Math.round(value * DIGITS) / DIGITS;
    }
}
