package io.ringpoll.bench.echo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import io.ringpoll.bench.measure.TurnCount;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** The turns of a measurement: a table, JSON, and ratios. */
final class EchoReport {
    /** Begin of the names of figures of the layer over verbs. */
    private static final String OVER_VERBS = "over-verbs/";
    private static final double NS_PER_SECOND = 1e9;
    private static final double NS_PER_US = 1e3;
    private static final double MILLION = 1e6;
    private static final List<Figure> FIGURES = List.of(
        new Figure("throughput", EchoMode.THROUGHPUT, EchoWindow::nsPerMessage),
        new Figure("p50", EchoMode.PING_PONG, window -> window.roundTripNs().get(0)),
        new Figure("p90", EchoMode.PING_PONG, window -> window.roundTripNs().get(1)),
        new Figure("p99", EchoMode.PING_PONG, window -> window.roundTripNs().get(2)));

    private final EchoConfig config;
    private final List<EchoWindow> windows;

    /** A cost in nanoseconds that is compared. */
    private record Figure(String name, EchoMode mode, ToDoubleFunction<EchoWindow> costNs) {
    }

    EchoReport(final EchoConfig config, final List<EchoWindow> windows) {
        this.config = config;
        this.windows = List.copyOf(windows);
    }

    /**
     * The ratios of the layer to each baseline, by fork and over the rounds in which the turns of both are valid, those of the
     * layer over verbs to the one over librpma, to the echo by hand and to C, and the bytes that the layer's threads allocate for
     * a million messages.
     */
    List<BenchResult> results() {
        final List<BenchResult> results = new ArrayList<>();
        for (final EchoScale scale : config.scales()) {
            for (final Figure figure : FIGURES) {
                for (final EchoSubject other : EchoSubject.values()) {
                    if (other != EchoSubject.LAYER && other != EchoSubject.OVER_VERBS) {
                        compare(scale, figure, EchoSubject.LAYER, other, results);
                    }
                }
                compare(scale, figure, EchoSubject.OVER_VERBS, EchoSubject.LAYER, results);
                compare(scale, figure, EchoSubject.OVER_VERBS, EchoSubject.BY_HAND, results);
                compare(scale, figure, EchoSubject.OVER_VERBS, EchoSubject.C, results);
            }
            final double[] bytes = valid(scale, EchoMode.THROUGHPUT, EchoSubject.LAYER).values().stream()
                .mapToDouble(window -> window.allocatedBytes() * MILLION).filter(each -> !Double.isNaN(each)).toArray();
            if (bytes.length > 0) {
                results.add(BenchResult.ofBytes(scale.resultName("allocated-per-million"), bytes));
            }
        }
        return results;
    }

    private void compare(final EchoScale scale, final Figure figure, final EchoSubject subject, final EchoSubject other,
        final List<BenchResult> results) {
        final Map<Integer, EchoWindow> ours = valid(scale, figure.mode, subject);
        final Map<Integer, EchoWindow> theirs = valid(scale, figure.mode, other);
        ours.keySet().retainAll(theirs.keySet());
        theirs.keySet().retainAll(ours.keySet());
        if (!ours.isEmpty()) {
            results.add(BenchResult.ofGroups(
                scale.resultName(subject == EchoSubject.OVER_VERBS ? OVER_VERBS + figure.name : figure.name),
                byFork(ours, figure), byFork(theirs, figure), other.label()));
        }
    }

    /** The costs of each fork that has any. */
    private List<double[]> byFork(final Map<Integer, EchoWindow> byRound, final Figure figure) {
        return byRound.values().stream()
            .collect(Collectors.groupingBy(window -> window.round() / config.rounds(), TreeMap::new, Collectors.toList()))
            .values().stream().map(fork -> costs(fork, figure)).toList();
    }

    /** The valid turns of a contestant, by round. */
    private Map<Integer, EchoWindow> valid(final EchoScale scale, final EchoMode mode, final EchoSubject subject) {
        final Map<Integer, EchoWindow> byRound = new TreeMap<>();
        for (final EchoWindow window : windows) {
            if (window.counts() && window.scale().equals(scale) && window.mode() == mode && window.subject() == subject) {
                byRound.put(window.round(), window);
            }
        }
        return byRound;
    }

    private static double[] costs(final Collection<EchoWindow> windows, final Figure figure) {
        return windows.stream().mapToDouble(figure.costNs).toArray();
    }

    /** The turns that went wrong, a line for each. */
    List<String> faults() {
        return windows.stream().filter(window -> !window.fault().isEmpty()).map(window -> window.scale() + ", " +
            window.subject().label() + ", round " + window.round() + ": " + window.fault()).toList();
    }

    /** Prints the medians of each contestant. */
    void print(final PrintWriter out) {
        out.printf("%n%-18s %-14s %14s %9s %9s %9s %10s %9s%n", "echo", "", "messages/s", "p50 us", "p90 us", "p99 us",
            "allocated", "turns");
        for (final EchoScale scale : config.scales()) {
            for (final EchoSubject subject : EchoSubject.values()) {
                final Collection<EchoWindow> saturated = valid(scale, EchoMode.THROUGHPUT, subject).values();
                final Collection<EchoWindow> alone = valid(scale, EchoMode.PING_PONG, subject).values();
                final double[] us = FIGURES.stream().skip(1)
                    .mapToDouble(figure -> median(costs(alone, figure)) / NS_PER_US).toArray();
                out.printf(Locale.ROOT, "%-18s %-14s %,14.0f %9.2f %9.2f %9.2f %8.2f B %4d %4d%n", scale, subject.label(),
                    NS_PER_SECOND / median(costs(saturated, FIGURES.getFirst())), us[0], us[1], us[2],
                    median(saturated.stream().mapToDouble(EchoWindow::allocatedBytes).toArray()), saturated.size(),
                    alone.size());
            }
        }
        out.println(turns());
        faults().forEach(fault -> out.println("wrong: " + fault));
        out.flush();
    }

    /** NaN if there is none. */
    private static double median(final double... values) {
        final double[] known = Arrays.stream(values).filter(each -> !Double.isNaN(each)).toArray();
        return known.length == 0 ? Double.NaN : Spread.of(known).median();
    }

    /** The turns, dropped ones and repetitions included. */
    TurnCount turns() {
        return new TurnCount(config.plannedTurns(), windows.size(),
            (int) windows.stream().filter(window -> !window.counts()).count());
    }

    /** The report as one JSON object. */
    String toJson() {
        final ObjectNode root = JsonText.document(results());
        turns().addTo(root.putObject("turns"));
        root.put("forks", config.forks());
        root.put("rounds", config.rounds()).put("leadInMs", config.leadInMs()).put("windowMs", config.windowMs())
            .put("seed", config.seed());
        final ArrayNode array = root.putArray("windows");
        for (final EchoWindow window : windows) {
            window.addTo(array.addObject());
        }
        return JsonText.of(root);
    }
}
