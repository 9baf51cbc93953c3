package io.ringpoll.bench.throughput;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.bench.measure.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The windows of a measurement: as a table, as JSON, and as ratios. */
public final class ThroughputReport {
    private static final double NS_PER_SECOND = 1e9;

    private final String handlers;
    private final List<String> labels;
    private final List<ThroughputWindow> windows;
    private final Optional<NodeCensus> census;

    ThroughputReport(final String handlers, final List<HandOff> handOffs, final List<ThroughputWindow> windows,
        final Optional<NodeCensus> census) {
        this.handlers = handlers;
        this.labels = handOffs.stream().map(HandOff::label).toList();
        this.windows = windows;
        this.census = census;
    }

    /**
     * Prints the report.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        printTable(out);
        census.ifPresent(out::println);
    }

    /**
     * The report as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final ObjectNode root = JsonText.document(results());
        addWindows(root);
        census.ifPresent(looked -> looked.addTo(root));
        return JsonText.of(root);
    }

    /**
     * The ratios of ringpoll to each baseline, regime by regime, over the rounds in which both windows are valid and in that
     * regime.
     */
    List<BenchResult> results() {
        final List<BenchResult> results = new ArrayList<>();
        for (final Regime regime : Regime.values()) {
            final Map<Integer, ThroughputWindow> ours = counting(RingpollHandOff.NAME, regime);
            for (final String label : labels) {
                final Map<Integer, ThroughputWindow> theirs = counting(label, isRegimeFree(label) ? null : regime);
                final List<Integer> common = ours.keySet().stream().filter(theirs::containsKey).toList();
                if (!label.equals(RingpollHandOff.NAME) && !common.isEmpty()) {
                    results.add(BenchResult.ofCosts("throughput/" + handlers + "/" + regime,
                        costs(ours, common), costs(theirs, common), label));
                }
            }
        }
        return results;
    }

    void printTable(final PrintWriter out) {
        out.printf("%n%-26s %-9s %8s %8s %14s %10s %8s %6s%n", "hand-off", "regime", "ns", "+-", "completions/s",
            "ours/its", "rounds", "lost");
        for (final Regime regime : Regime.values()) {
            for (final String label : labels) {
                final double[] costs = costs(counting(label, regime));
                if (costs.length > 0) {
                    final Spread spread = Spread.of(costs);
                    out.printf(Locale.ROOT, "%-26s %-9s %8.2f %8.2f %,14.0f %10s %8d %6d%n", label, regime, spread.median(),
                        spread.width(), NS_PER_SECOND / spread.median(), ratio(label, regime), spread.runs(), lost(label));
                }
            }
        }
        for (final String label : labels) {
            final long turns =
                windows.stream().filter(window -> window.label().equals(label) && window.fault().isEmpty()).count();
            if (turns > 0 && lost(label) == turns) {
                out.printf("%s: none of its %d turns counts: other threads had its CPUs; try a quieter machine%n", label, turns);
            }
        }
        faults().forEach(fault -> out.println("wrong: " + fault));
        out.flush();
    }

    /**
     * The turns that went wrong.
     *
     * @return a line for each
     */
    public List<String> faults() {
        return windows.stream().filter(window -> !window.fault().isEmpty())
            .map(window -> window.label() + ", round " + window.round() + ": " + window.fault()).distinct().toList();
    }

    void addWindows(final ObjectNode root) {
        final ArrayNode array = root.putArray("windows");
        for (final ThroughputWindow window : windows) {
            array.addObject().put("round", window.round()).put("handOff", window.label())
                .put("asked", window.asked().toString()).put("regime", window.regime().toString())
                .put("nsPerCompletion", window.nsPerCompletion()).put("occupied", window.occupiedShare())
                .put("runDelayNs", window.loss().runDelayNs()).put("stealNs", window.loss().stealNs())
                .put("counts", window.counts());
        }
    }

    /** A loop without a ring has no lag; alternatives have no regime. */
    private static boolean isRegimeFree(final String label) {
        return !label.equals(io.ringpoll.bench.handoff.CHandOff.NAME) && !label.equals(RingpollHandOff.NAME);
    }

    private String ratio(final String label, final Regime regime) {
        return results().stream()
            .filter(result -> result.baselineName().equals(label) && result.name().endsWith("/" + regime)).findFirst()
            .map(result -> String.format(Locale.ROOT, "%.3f", result.ratio())).orElse("");
    }

    private long lost(final String label) {
        return windows.stream().filter(window -> window.label().equals(label) && !window.counts()).count();
    }

    private Map<Integer, ThroughputWindow> counting(final String label, final Regime regime) {
        final Map<Integer, ThroughputWindow> byRound = new TreeMap<>();
        for (final ThroughputWindow window : windows) {
            if (window.counts() && window.label().equals(label) && (regime == null || window.regime() == regime)) {
                byRound.put(window.round(), window);
            }
        }
        return byRound;
    }

    private static double[] costs(final Map<Integer, ThroughputWindow> byRound) {
        return byRound.values().stream().mapToDouble(ThroughputWindow::nsPerCompletion).toArray();
    }

    private static double[] costs(final Map<Integer, ThroughputWindow> byRound, final List<Integer> rounds) {
        return rounds.stream().mapToDouble(round -> byRound.get(round).nsPerCompletion()).toArray();
    }
}
