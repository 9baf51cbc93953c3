package io.ringpoll.bench.processes;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import io.ringpoll.bench.measure.TurnCount;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The turns of a measurement: a table, JSON, and ratios. */
final class ProcessesReport {
    private static final double BYTES_PER_GB = 1e9;
    private static final double NS_PER_S = 1e9;
    private static final List<Comparison> COMPARISONS = List.of(
        new Comparison("processes/send-ping-pong/64-bytes", ProcessesSubject.C,
            List.of(ProcessesSubject.SHARED_MEMORY, ProcessesSubject.AERON_IPC, ProcessesSubject.TCP)),
        new Comparison("processes/pipeline-ping-pong/64-bytes", ProcessesSubject.RINGPOLL,
            List.of(ProcessesSubject.C, ProcessesSubject.AERON_IPC, ProcessesSubject.TCP)),
        new Comparison("processes/write/1-MiB", ProcessesSubject.WRITES, List.of(ProcessesSubject.MEMCPY)));
    private static final List<String> PERCENTILES = List.of("p50", "p90", "p99");

    private final ProcessesConfig config;
    private final HotCpus cpus;
    private final List<ProcessesWindow> windows;

    /** A contestant and its baselines. */
    private record Comparison(String name, ProcessesSubject ours, List<ProcessesSubject> baselines) {
    }

    ProcessesReport(final ProcessesConfig config, final HotCpus cpus, final List<ProcessesWindow> windows) {
        this.config = config;
        this.cpus = cpus;
        this.windows = List.copyOf(windows);
    }

    /** The ratios, over the rounds in which the turns of both are valid. */
    List<BenchResult> results() {
        final List<BenchResult> results = new ArrayList<>();
        for (final Comparison comparison : COMPARISONS) {
            for (int figure = 0; figure < figures(comparison.ours).size(); figure++) {
                for (final ProcessesSubject baseline : comparison.baselines) {
                    compare(comparison, figure, baseline, results);
                }
            }
        }
        return results;
    }

    /** The names of the figures; a single one needs no name. */
    private static List<String> figures(final ProcessesSubject subject) {
        return subject.isPingPong() ? PERCENTILES : List.of("");
    }

    private void compare(final Comparison comparison, final int figure, final ProcessesSubject baseline,
        final List<BenchResult> results) {
        final Map<Integer, ProcessesWindow> ours = valid(comparison.ours);
        final Map<Integer, ProcessesWindow> theirs = valid(baseline);
        ours.keySet().retainAll(theirs.keySet());
        theirs.keySet().retainAll(ours.keySet());
        if (!ours.isEmpty()) {
            final String name = figures(comparison.ours).get(figure);
            results.add(BenchResult.ofCosts(name.isEmpty() ? comparison.name : comparison.name + "/" + name,
                costs(ours.values(), figure), costs(theirs.values(), figure), baseline.label()));
        }
    }

    /** The valid turns of a contestant, by round. */
    private Map<Integer, ProcessesWindow> valid(final ProcessesSubject subject) {
        final Map<Integer, ProcessesWindow> byRound = new TreeMap<>();
        for (final ProcessesWindow window : windows) {
            if (window.counts() && window.subject() == subject) {
                byRound.put(window.round(), window);
            }
        }
        return byRound;
    }

    private static double[] costs(final Collection<ProcessesWindow> windows, final int figure) {
        return windows.stream().mapToDouble(window -> window.costsNs().get(figure)).toArray();
    }

    /** The contestants without a valid turn, a line for each. */
    List<String> unmeasured() {
        final List<String> lines = new ArrayList<>();
        for (final ProcessesSubject subject : ProcessesSubject.values()) {
            if (valid(subject).isEmpty()) {
                lines.add("processes, " + subject.label() + ": no turn without lost CPU time");
            }
        }
        return lines;
    }

    /** Prints the median of each figure, with the distance between its quartiles. */
    void print(final PrintWriter out) {
        out.println(place());
        out.printf("%n%-16s %17s %17s %17s %6s%n", "half round trip", "p50 ns", "p90 ns", "p99 ns", "turns");
        for (final ProcessesSubject subject : ProcessesSubject.values()) {
            if (subject.isPingPong()) {
                final Collection<ProcessesWindow> turns = valid(subject).values();
                out.printf("%-16s %17s %17s %17s %6d%n", subject.label(), text(turns, 0), text(turns, 1), text(turns, 2),
                    turns.size());
            }
        }
        out.printf("%n%-16s %17s %17s %6s%n", "1 MiB", "ns", "GB/s", "turns");
        for (final ProcessesSubject subject : ProcessesSubject.values()) {
            if (!subject.isPingPong()) {
                final Collection<ProcessesWindow> turns = valid(subject).values();
                out.printf(Locale.ROOT, "%-16s %17s %17.2f %6d%n", subject.label(), text(turns, 0),
                    turns.isEmpty() ? Double.NaN : CBaselineEnd.WRITE_BYTES / Spread.of(costs(turns, 0)).median() * NS_PER_S /
                        BYTES_PER_GB, turns.size());
            }
        }
        out.println(turns());
        unmeasured().forEach(line -> out.println("no figure: " + line));
        out.flush();
    }

    /** The CPUs of the two processes. */
    private String place() {
        return cpus.areExclusive(1) ? "server on CPU " + cpus.handler(0) + ", client on CPU " + cpus.poller() :
            "both processes share their CPUs and yield: the times are those of the scheduler; two CPUs are needed";
    }

    private static String text(final Collection<ProcessesWindow> turns, final int figure) {
        if (turns.isEmpty()) {
            return "-";
        }
        final Spread spread = Spread.of(costs(turns, figure));
        return String.format(Locale.ROOT, "%,.0f (%,.0f)", spread.median(), spread.width());
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
        root.put("rounds", config.rounds()).put("leadInMs", config.leadInMs()).put("windowMs", config.windowMs())
            .put("seed", config.seed()).put("place", place());
        final ArrayNode array = root.putArray("windows");
        for (final ProcessesWindow window : windows) {
            final ObjectNode node = array.addObject();
            node.put("round", window.round()).put("contestant", window.subject().label())
                .put("lostShare", window.lostShare()).put("counts", window.counts());
            final List<String> names = figures(window.subject());
            for (int figure = 0; figure < window.costsNs().size(); figure++) {
                node.put(names.get(figure).isEmpty() ? "ns" : names.get(figure) + "Ns", window.costsNs().get(figure));
            }
        }
        final ArrayNode lines = root.putArray("unmeasured");
        unmeasured().forEach(lines::add);
        return JsonText.of(root);
    }
}
