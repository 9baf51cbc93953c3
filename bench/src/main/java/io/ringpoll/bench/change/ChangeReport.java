package io.ringpoll.bench.change;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.latency.PooledLatencies;
import io.ringpoll.bench.measure.Difference;
import io.ringpoll.bench.measure.Estimate;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The effect of a change: each figure before and after it, and the difference with its interval.
 *
 * @param before     measured before the change
 * @param after      measured after it, with the same settings
 * @param alternated whether the rounds alternated
 */
public record ChangeReport(ChangeMeasurement before, ChangeMeasurement after, boolean alternated) {
    private static final double[] PERCENTILES = {50, 99, 99.9};
    private static final double NS_PER_US = 1_000;

    /**
     * A figure.
     *
     * @param name       its name, with the unit
     * @param before     its value before the change
     * @param after      its value after the change
     * @param difference after less before, over pairs of rounds
     */
    public record Figure(String name, double before, double after, Estimate difference) {
        /**
         * The difference that the rounds show.
         *
         * @return {@link Difference#NOT_SHOWN} if the interval contains 0
         */
        public Difference shown() {
            return Difference.ofExcess(difference.interval());
        }
    }

    /**
     * The figures, of the rounds that are complete on both sides.
     *
     * @return empty if there is no such round
     */
    public List<Figure> figures() {
        final int[] pairs = pairs();
        if (pairs.length == 0) {
            return List.of();
        }
        final List<Figure> figures = new ArrayList<>();
        figures.add(byRound("lost time of a CPU, us a second", pairs, ChangeRound::lostUsPerSecond));
        figures.add(byRound("longest interruption in a window, us", pairs, ChangeRound::longestUs));
        final PooledLatencies earlier = pooled(before, pairs);
        final PooledLatencies later = pooled(after, pairs);
        final int[] all = IntStream.range(0, pairs.length).toArray();
        for (final double percentile : PERCENTILES) {
            final double was = earlier.percentileNs(percentile, all) / NS_PER_US;
            final double is = later.percentileNs(percentile, all) / NS_PER_US;
            figures.add(new Figure("latency p" + (percentile == Math.rint(percentile) ? Integer.toString((int) percentile) :
                Double.toString(percentile)) + ", us", was, is, new Estimate(is - was, Interval.of(pairs.length, draw ->
                (later.percentileNs(percentile, draw) - earlier.percentileNs(percentile, draw)) / NS_PER_US))));
        }
        figures.add(byRound("highest latency in a window, us", pairs, ChangeRound::highestLatencyUs));
        return figures;
    }

    private int[] pairs() {
        return IntStream.range(0, Math.min(before.rounds().size(), after.rounds().size()))
            .filter(round -> before.rounds().get(round).isComplete() && after.rounds().get(round).isComplete()).toArray();
    }

    private Figure byRound(final String name, final int[] pairs, final ToDoubleFunction<ChangeRound> figure) {
        final double[] was = IntStream.of(pairs).mapToDouble(round -> figure.applyAsDouble(before.rounds().get(round))).toArray();
        final double[] is = IntStream.of(pairs).mapToDouble(round -> figure.applyAsDouble(after.rounds().get(round))).toArray();
        return new Figure(name, Spread.of(was).median(), Spread.of(is).median(),
            Estimate.ofMedian(IntStream.range(0, pairs.length).mapToDouble(pair -> is[pair] - was[pair]).toArray()));
    }

    private static PooledLatencies pooled(final ChangeMeasurement measurement, final int[] pairs) {
        return new PooledLatencies(IntStream.of(pairs).mapToObj(round -> measurement.rounds().get(round).latencyNs()).toList());
    }

    /**
     * Prints the report.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        out.println(before.settings());
        out.println("before: " + before.environment().time() + "; after: " + after.environment().time());
        final List<String> changes = after.environment().changesSince(before.environment());
        changes.forEach(change -> out.println("changed: " + change));
        if (changes.isEmpty()) {
            out.println("no recorded setting of the machine or the JVM has changed, and no result of the doctor");
        }
        out.printf("%n%-38s %14s %14s  %-44s %s%n", "", "before", "after", "difference (95 %)", "after the change");
        final List<Figure> figures = figures();
        for (final Figure figure : figures) {
            out.printf(Locale.ROOT, "%-38s %,14.2f %,14.2f  %-44s %s%n", figure.name(), figure.before(), figure.after(),
                figure.difference().text("%+,.2f"), figure.shown());
        }
        out.println("difference: after less before, with its 95 % interval over pairs of rounds; one interval in 20 is wrong by "
            + "chance");
        printDoubts(out);
        out.flush();
    }

    private void printDoubts(final PrintWriter out) {
        final int pairs = pairs().length;
        if (pairs < before.settings().rounds()) {
            out.println("left out: " + (before.settings().rounds() - pairs) + " of " + before.settings().rounds()
                + " pairs of rounds, whose latencies are not complete; try a lower --rate");
        }
        if (pairs < Interval.FEWEST_RUNS) {
            out.println("an interval needs " + Interval.FEWEST_RUNS + " pairs of rounds");
        }
        if (!alternated) {
            out.println("the rounds did not alternate: what else changed on the machine in that time looks like the change's "
                + "effect");
        }
    }

    /**
     * The report as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final ObjectNode root = JsonNodeFactory.instance.objectNode();
        before.settings().addTo(root.putObject("settings"));
        root.set("before", before.environment().root());
        root.set("after", after.environment().root());
        root.put("alternated", alternated).put("pairs", pairs().length);
        final ArrayNode changed = root.putArray("changed");
        after.environment().changesSince(before.environment()).forEach(changed::add);
        final ArrayNode array = root.putArray("figures");
        for (final Figure figure : figures()) {
            final ObjectNode node = array.addObject().put("name", figure.name()).put("before", figure.before())
                .put("after", figure.after()).put("difference", figure.difference().value());
            if (figure.difference().interval().isKnown()) {
                node.put("low", figure.difference().interval().low()).put("high", figure.difference().interval().high());
            }
            node.put("shown", figure.shown().toString());
        }
        return JsonText.of(root);
    }
}
