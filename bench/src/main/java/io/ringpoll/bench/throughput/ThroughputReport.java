package io.ringpoll.bench.throughput;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.bench.measure.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The windows of a measurement: as a table, as JSON, and as ratios. */
public final class ThroughputReport {
    private static final double NS_PER_SECOND = 1e9;
    private static final double MILLION = 1e6;

    private final String handlers;
    private final List<HandOff> handOffs;
    private final List<ThroughputWindow> windows;
    private final Optional<NodeCensus> census;

    /** Ringpoll is the first of the hand-offs. */
    ThroughputReport(final String handlers, final List<HandOff> handOffs, final List<ThroughputWindow> windows,
        final Optional<NodeCensus> census) {
        this.handlers = handlers;
        this.handOffs = List.copyOf(handOffs);
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
        Goals.print(allResults(), out);
        census.ifPresent(out::println);
    }

    /**
     * The report as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final ObjectNode root = JsonText.document(allResults());
        addWindows(root);
        final ArrayNode faults = root.putArray("faults");
        faults().forEach(faults::add);
        final ArrayNode unmeasured = root.putArray("unmeasured");
        unmeasured().forEach(unmeasured::add);
        census.ifPresent(looked -> looked.addTo(root));
        return JsonText.of(root);
    }

    /**
     * The ratios of ringpoll to each baseline: over all valid pairs, then over the pairs in which both ran in the same regime.
     * A pair is two turns of the same round of the same pass.
     */
    List<BenchResult> results() {
        final List<BenchResult> results = new ArrayList<>();
        for (final HandOff other : others()) {
            compare(other, null).ifPresent(results::add);
        }
        for (final Regime regime : Regime.values()) {
            for (final HandOff other : others()) {
                if (other.hasRing()) {
                    compare(other, regime).ifPresent(results::add);
                }
            }
        }
        return results;
    }

    /** The ratios, and the bytes that the threads of ringpoll allocated for a million completions. */
    private List<BenchResult> allResults() {
        final List<BenchResult> all = results();
        final double[] bytes = knownBytes(valid(handOffs.getFirst(), null).values());
        if (bytes.length > 0) {
            all.add(BenchResult.ofBytes(
                name() + "/allocated-per-million", Arrays.stream(bytes).map(each -> each * MILLION).toArray()));
        }
        return all;
    }

    void printTable(final PrintWriter out) {
        out.printf("%n%-28s %8s %8s %14s %-24s %-20s %6s %6s %9s%n", "hand-off", "ns", "+-", "completions/s",
            "ours/its (95 %)", "our cost", "turns", "lost", "allocated");
        for (final HandOff each : handOffs) {
            final double[] costs = costs(valid(each, null).values());
            if (costs.length > 0) {
                final Spread spread = Spread.of(costs);
                final Optional<BenchResult> ratio = each == handOffs.getFirst() ? Optional.empty() : compare(each, null);
                out.printf(Locale.ROOT, "%-28s %8.2f %8.2f %,14.0f %-24s %-20s %6d %6d %9s%n", each.label(), spread.median(),
                    spread.width(), NS_PER_SECOND / spread.median(), ratio.map(BenchResult::ratioText).orElse(""),
                    ratio.map(BenchResult::difference).map(Object::toString).orElse(""), spread.runs(), lost(each),
                    allocated(valid(each, null).values()));
            }
        }
        printRegimes(out);
        unmeasured().forEach(out::println);
        faults().forEach(fault -> out.println("wrong: " + fault));
        out.flush();
    }

    /** Bytes of the Java heap for each completion. */
    private static String allocated(final Collection<ThroughputWindow> windows) {
        final double[] bytes = knownBytes(windows);
        return bytes.length == 0 ? "-" : String.format(Locale.ROOT, "%.2f B", Spread.of(bytes).median());
    }

    private static double[] knownBytes(final Collection<ThroughputWindow> windows) {
        return windows.stream().mapToDouble(ThroughputWindow::allocatedBytes).filter(each -> !Double.isNaN(each)).toArray();
    }

    /** The regime is an outcome too: how often each hand-off runs in it, and at which cost. */
    private void printRegimes(final PrintWriter out) {
        out.printf("%n%-28s", "share of turns, ns");
        for (final Regime regime : Regime.values()) {
            out.printf(" %16s", regime);
        }
        out.println();
        for (final HandOff each : handOffs) {
            final int all = valid(each, null).size();
            if (all > 0 && each.hasRing()) {
                out.printf("%-28s", each.label());
                for (final Regime regime : Regime.values()) {
                    final double[] costs = costs(valid(each, regime).values());
                    out.printf(Locale.ROOT, " %16s", costs.length == 0 ? "0 %" :
                        String.format(Locale.ROOT, "%.0f %%  %7.2f", 100.0 * costs.length / all, Spread.of(costs).median()));
                }
                out.println();
            }
        }
        for (final BenchResult result : results()) {
            final String regime = result.name().substring(name().length());
            if (!regime.isEmpty()) {
                out.printf("both %s: ours / %s %s, %s, over %d pairs%n", regime.substring(1), result.baselineName(),
                    result.ratioText(), result.difference(), result.runs());
            }
        }
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

    /**
     * The hand-offs that have no figure.
     *
     * @return a line for each whose turns were all lost
     */
    public List<String> unmeasured() {
        final List<String> lines = new ArrayList<>();
        for (final HandOff each : handOffs) {
            final long turns =
                windows.stream().filter(window -> window.label().equals(each.label()) && window.fault().isEmpty()).count();
            if (turns > 0 && valid(each, null).isEmpty()) {
                lines.add(each.label() + ": none of its " + turns + " turns counts: other threads had its CPUs, or nothing was " +
                    "handled; try a quieter machine or a longer --window");
            }
        }
        return lines;
    }

    void addWindows(final ObjectNode root) {
        final ArrayNode array = root.putArray("windows");
        for (final ThroughputWindow window : windows) {
            final ObjectNode node = array.addObject();
            node.put("round", window.round()).put("handOff", window.label())
                .put("asked", window.asked().toString()).put("regime", window.regime().toString())
                .put("nsPerCompletion", window.nsPerCompletion()).put("occupied", window.occupiedShare())
                .put("runDelayNs", window.loss().runDelayNs()).put("stealNs", window.loss().stealNs())
                .put("counts", window.counts());
            if (!Double.isNaN(window.allocatedBytes())) {
                node.put("allocatedBytes", window.allocatedBytes());
            }
        }
    }

    private String name() {
        return "throughput/" + handlers;
    }

    private List<HandOff> others() {
        return handOffs.subList(1, handOffs.size());
    }

    private Optional<BenchResult> compare(final HandOff other, final Regime regime) {
        final Map<Turn, ThroughputWindow> ours = valid(handOffs.getFirst(), regime);
        final Map<Turn, ThroughputWindow> theirs = valid(other, regime);
        ours.keySet().retainAll(theirs.keySet());
        theirs.keySet().retainAll(ours.keySet());
        return ours.isEmpty() ? Optional.empty() : Optional.of(BenchResult.ofCosts(
            regime == null ? name() : name() + "/" + regime, costs(ours.values()), costs(theirs.values()), other.label()));
    }

    private long lost(final HandOff handOff) {
        return windows.stream().filter(window -> window.label().equals(handOff.label()) && !window.counts()).count();
    }

    /** The valid turns of a hand-off, in a regime or in any, in the order of their turns. */
    private Map<Turn, ThroughputWindow> valid(final HandOff handOff, final Regime regime) {
        final Map<Turn, ThroughputWindow> byTurn = new TreeMap<>();
        for (final ThroughputWindow window : windows) {
            if (window.counts() && window.label().equals(handOff.label()) && (regime == null || window.regime() == regime)) {
                byTurn.put(new Turn(window.asked(), window.round()), window);
            }
        }
        return byTurn;
    }

    private static double[] costs(final Collection<ThroughputWindow> windows) {
        return windows.stream().mapToDouble(ThroughputWindow::nsPerCompletion).toArray();
    }

    /** A round of a pass: each pass counts its rounds from 0. */
    private record Turn(Regime asked, int round) implements Comparable<Turn> {
        private static final Comparator<Turn> ORDER = Comparator.comparing(Turn::asked).thenComparingInt(Turn::round);

        @Override
        public int compareTo(final Turn other) {
            return ORDER.compare(this, other);
        }
    }
}
