package io.ringpoll.bench.growth;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.bench.plot.GrowthPlot;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The turns of a measurement: a table and a plot for each axis, JSON, and ratios. */
public final class GrowthReport {
    private static final String CROWDED = "*";
    private static final String DISTURBED = "~";
    private static final Baseline C = new Baseline(CHandOff.NAME, "C");
    private static final List<Baseline> BASELINES =
        List.of(C, new Baseline(RingpollHandOff.PLAIN_ROUNDS_NAME, "plain rounds"));

    private final GrowthConfig config;
    private final List<GrowthWindow> windows;

    /** A contestant that ringpoll is compared with, by its label in results and its name in tables and plots. */
    private record Baseline(String label, String name) {
    }

    GrowthReport(final GrowthConfig config, final List<GrowthWindow> windows) {
        this.config = config;
        this.windows = List.copyOf(windows);
    }

    /**
     * Whether a result belongs to such a report.
     *
     * @param result a result of the suite
     * @return true by its name
     */
    public static boolean isGrowth(final BenchResult result) {
        return result.name().startsWith(GrowthPoint.PREFIX);
    }

    /**
     * The ratios of ringpoll to C, and to ringpoll with plain rounds where it takes part, over the rounds in which the threads of
     * both had their CPUs; over all rounds, if these are fewer than {@value Interval#FEWEST_RUNS}.
     *
     * @return one for each point and baseline with a figure of both
     */
    public List<BenchResult> results() {
        return BASELINES.stream()
            .flatMap(baseline -> config.points().stream().map(point -> result(point, baseline)).flatMap(Optional::stream))
            .toList();
    }

    /**
     * The turns that went wrong.
     *
     * @return a line for each
     */
    public List<String> faults() {
        return windows.stream().filter(window -> !window.fault().isEmpty())
            .map(window -> window.point().name() + ", " + window.label() + ", round " + window.round() + ": " + window.fault())
            .toList();
    }

    /**
     * Prints a table for each axis and measure.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        for (final GrowthAxis axis : GrowthAxis.values()) {
            for (final GrowthMeasure measure : axis.measures()) {
                BASELINES.forEach(baseline -> printTable(axis, measure, baseline, out));
            }
            printNotes(axis, out);
        }
        if (BASELINES.stream().anyMatch(baseline -> points(baseline).anyMatch(point -> isDisturbed(point, baseline)))) {
            out.printf("%s fewer than %d rounds in which no thread lost a tenth of the time: all rounds count; try a quieter "
                + "machine%n", DISTURBED, Interval.FEWEST_RUNS);
        }
        faults().forEach(fault -> out.println("wrong: " + fault));
        out.flush();
    }

    /**
     * Adds the turns, and the points with more hot threads than CPUs.
     *
     * @param root document with {@link #results}
     */
    public void addTo(final ObjectNode root) {
        final ObjectNode growth = root.putObject("growth");
        growth.put("rounds", config.rounds()).put("leadInMs", config.leadInMs()).put("windowMs", config.windowMs())
            .put("cpus", config.cpus()).put("seed", config.seed());
        final ArrayNode crowded = growth.putArray("moreThreadsThanCpus");
        config.points().stream().filter(config::isCrowded).map(GrowthPoint::name).forEach(crowded::add);
        final ArrayNode disturbed = growth.putArray("disturbed");
        config.points().stream().filter(point -> isDisturbed(point, C)).map(GrowthPoint::name)
            .forEach(disturbed::add);
        final ArrayNode array = growth.putArray("windows");
        for (final GrowthWindow window : windows) {
            final ObjectNode node = array.addObject();
            node.put("name", window.point().name()).put("axis", window.point().axis().label())
                .put("point", window.point().value()).put("round", window.round()).put("contestant", window.label());
            if (Double.isFinite(window.ns())) {
                node.put("ns", window.ns());
            }
            node.put("runDelayNs", window.loss().runDelayNs()).put("stealNs", window.loss().stealNs())
                .put("undisturbed", window.isUndisturbed());
        }
    }

    /**
     * Plots each axis and measure with at least two points into {@code growth-AXIS.svg}, {@code -dark.svg} for dark pages, and
     * {@code .png}.
     *
     * @param folder folder of the files
     */
    public void plot(final Path folder) {
        for (final GrowthAxis axis : GrowthAxis.values()) {
            for (final GrowthMeasure measure : axis.measures()) {
                final Map<String, Map<Integer, Double>> lines = lines(axis, measure);
                if (lines.get(RingpollHandOff.NAME).size() > 1) {
                    GrowthPlot.draw(axis.title(), axis.scale(), measure.title(), lines, folder,
                        "growth-" + axis.label() + measure.suffix().replace('/', '-'));
                }
            }
        }
    }

    /** The figures of ringpoll and of each baseline that takes part, by name and point. */
    Map<String, Map<Integer, Double>> lines(final GrowthAxis axis, final GrowthMeasure measure) {
        final Map<String, Map<Integer, Double>> lines = new LinkedHashMap<>();
        final Map<Integer, Double> ours = new TreeMap<>();
        lines.put(RingpollHandOff.NAME, ours);
        resultsOf(axis, measure, C).forEach((value, result) -> ours.put(value, result.ringpoll()));
        for (final Baseline baseline : BASELINES) {
            resultsOf(axis, measure, baseline).forEach((value, result) ->
                lines.computeIfAbsent(baseline.name, unused -> new TreeMap<>()).put(value, result.baseline()));
        }
        return lines;
    }

    private void printTable(
        final GrowthAxis axis, final GrowthMeasure measure, final Baseline baseline, final PrintWriter out) {
        final List<GrowthPoint> points =
            points(baseline).filter(point -> point.axis() == axis && point.measure() == measure).toList();
        if (points.isEmpty()) {
            return;
        }
        out.printf("%n%s: %s%n%13s %12s %12s  %-24s %8s %5s  %s%n", axis.title(), measure.title(), axis.unit(), "ringpoll",
            baseline.name, "ratio (95 %)", "spread", "runs", "our cost");
        for (final GrowthPoint point : points) {
            final String value = point.valueText() + (config.isCrowded(point) ? CROWDED : "") +
                (isDisturbed(point, baseline) ? DISTURBED : "");
            result(point, baseline).ifPresentOrElse(
                result -> out.printf(Locale.ROOT, "%13s %,12.2f %,12.2f  %-24s %8.3f %5d  %s%n", value, result.ringpoll(),
                    result.baseline(), result.ratioText(), result.spread(), result.runs(), result.difference()),
                () -> out.printf("%13s %12s %12s  %-24s %8s %5d%n", value, "-", "-", "-", "-", 0));
        }
    }

    private void printNotes(final GrowthAxis axis, final PrintWriter out) {
        final Optional<GrowthPoint> crowded =
            config.points().stream().filter(point -> point.axis() == axis && config.isCrowded(point)).findFirst();
        crowded.ifPresent(point -> out.printf(Locale.ROOT, "%s more hot threads than the %d CPUs, for instance %d: they are not "
            + "pinned and yield, and the scheduler is measured%n", CROWDED, config.cpus(), axis.threads(point.value())));
        final List<Integer> omitted = axis.omitted(config.cpus());
        if (!omitted.isEmpty()) {
            out.printf("not measured, with fewer CPUs than pollers: %s %s%n",
                omitted.stream().map(String::valueOf).collect(Collectors.joining(", ")), axis.unit());
        }
    }

    /** The points at which a baseline takes part. */
    private Stream<GrowthPoint> points(final Baseline baseline) {
        return config.points().stream().filter(point -> baseline.equals(C) ||
            windows.stream().anyMatch(window -> window.point().equals(point) && window.label().equals(baseline.label)));
    }

    private Map<Integer, BenchResult> resultsOf(final GrowthAxis axis, final GrowthMeasure measure, final Baseline baseline) {
        final Map<Integer, BenchResult> results = new TreeMap<>();
        for (final GrowthPoint point : config.points()) {
            if (point.axis() == axis && point.measure() == measure) {
                result(point, baseline).ifPresent(result -> results.put(point.value(), result));
            }
        }
        return results;
    }

    /** Whether all rounds of a point count, because there are too few in which both contestants had their CPUs. */
    private boolean isDisturbed(final GrowthPoint point, final Baseline baseline) {
        return rounds(costs(point, RingpollHandOff.NAME, true), costs(point, baseline.label, true)).size() < Interval.FEWEST_RUNS;
    }

    private Optional<BenchResult> result(final GrowthPoint point, final Baseline baseline) {
        final boolean undisturbed = !isDisturbed(point, baseline);
        final Map<Integer, Double> ours = costs(point, RingpollHandOff.NAME, undisturbed);
        final Map<Integer, Double> others = costs(point, baseline.label, undisturbed);
        final List<Integer> rounds = rounds(ours, others);
        return rounds.isEmpty() ? Optional.empty() : Optional.of(BenchResult.ofCosts(
            point.name(), rounds.stream().mapToDouble(ours::get).toArray(),
            rounds.stream().mapToDouble(others::get).toArray(), baseline.label));
    }

    private static List<Integer> rounds(final Map<Integer, Double> ours, final Map<Integer, Double> others) {
        final List<Integer> rounds = new ArrayList<>(ours.keySet());
        rounds.retainAll(others.keySet());
        return rounds;
    }

    /** The nanoseconds of the turns of a contestant, by round. */
    private Map<Integer, Double> costs(final GrowthPoint point, final String label, final boolean undisturbed) {
        final Map<Integer, Double> byRound = new TreeMap<>();
        for (final GrowthWindow window : windows) {
            if ((undisturbed ? window.isUndisturbed() : window.isSound()) && window.point().equals(point) &&
                window.label().equals(label)) {
                byRound.put(window.round(), window.ns());
            }
        }
        return byRound;
    }
}
