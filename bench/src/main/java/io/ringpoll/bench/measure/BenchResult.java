package io.ringpoll.bench.measure;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * One figure of ringpoll and of its baseline, or of ringpoll alone.
 *
 * @param name         label of the measurement
 * @param unit         {@code ns}, {@code B} or {@code in} (instructions), where lower is better, or {@code ops/s}
 * @param ringpoll     the median of ringpoll
 * @param baseline     the median of the baseline
 * @param baselineName label of the baseline
 * @param ratio        cost of ringpoll divided by the cost of the baseline, the median over runs; below 1 is better than the
 *                     baseline
 * @param runs         number of paired runs
 * @param spread       distance between the quartiles of the ratios of the runs
 * @param interval     confidence interval of the ratio
 * @param excess       cost of ringpoll less the cost of the baseline, the median over runs, with its interval
 */
public record BenchResult(String name, String unit, double ringpoll, double baseline, String baselineName, double ratio,
                          int runs, double spread, Interval interval, Estimate excess) {
    /** Nanoseconds; less is better. */
    public static final String NS = "ns";
    /** Bytes; less is better. */
    public static final String BYTES = "B";
    /** Executed instructions; less is better. */
    public static final String INSTRUCTIONS = "in";
    /** The baseline of bytes that are not to be allocated. */
    public static final String NOTHING = "nothing";

    /**
     * Compares paired runs.
     *
     * @param name         label of the measurement
     * @param ringpollNs   costs of ringpoll in nanoseconds
     * @param baselineNs   costs of the baseline, as many
     * @param baselineName label of the baseline
     * @return the medians, and the median of the ratios run by run
     */
    public static BenchResult ofCosts(
        final String name, final double[] ringpollNs, final double[] baselineNs, final String baselineName) {
        if (ringpollNs.length != baselineNs.length || ringpollNs.length == 0) {
            throw new IllegalArgumentException(ringpollNs.length + " runs of ringpoll, of the baseline " + baselineNs.length);
        }
        final double[] ratios = new double[ringpollNs.length];
        final double[] excesses = new double[ringpollNs.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = ringpollNs[i] / baselineNs[i];
            excesses[i] = ringpollNs[i] - baselineNs[i];
        }
        return ofRatios(name, ringpollNs, baselineNs, baselineName, ratios, excesses);
    }

    /**
     * Compares groups of pairs that depend on each other, as those of the same JVMs do: a run is a group.
     *
     * @param name         label of the measurement
     * @param ringpollNs   costs of ringpoll in nanoseconds, by group
     * @param baselineNs   costs of the baseline, as many in each group
     * @param baselineName label of the baseline
     * @return the medians over groups of the medians of each; the ratio of a group is the median of those of its pairs
     */
    public static BenchResult ofGroups(
        final String name, final List<double[]> ringpollNs, final List<double[]> baselineNs, final String baselineName) {
        final List<BenchResult> groups = IntStream.range(0, ringpollNs.size())
            .mapToObj(group -> ofCosts(name, ringpollNs.get(group), baselineNs.get(group), baselineName)).toList();
        return ofRatios(name, all(groups, BenchResult::ringpoll), all(groups, BenchResult::baseline), baselineName,
            all(groups, BenchResult::ratio), all(groups, group -> group.excess.value()));
    }

    private static double[] all(final List<BenchResult> groups, final ToDoubleFunction<BenchResult> figure) {
        return groups.stream().mapToDouble(figure).toArray();
    }

    private static BenchResult ofRatios(final String name, final double[] ringpollNs, final double[] baselineNs,
        final String baselineName, final double[] ratios, final double[] excesses) {
        final Spread spread = Spread.of(ratios);
        return new BenchResult(name, NS, Spread.of(ringpollNs).median(), Spread.of(baselineNs).median(), baselineName,
            spread.median(), spread.runs(), spread.width(), Interval.ofMedian(ratios), Estimate.ofMedian(excesses));
    }

    /**
     * The bytes that ringpoll allocates where it is to allocate nothing.
     *
     * @param name  label of the measurement
     * @param bytes one for each run, at least one
     * @return the median, also as the excess over {@link #NOTHING}, whose interval includes the highest run: a goal is met if no
     *     run exceeds it; the ratio is 0 and has no interval
     */
    public static BenchResult ofBytes(final String name, final double... bytes) {
        final Estimate median = Estimate.ofMedian(bytes);
        final Interval interval = median.interval();
        final Estimate highest = new Estimate(median.value(), interval.isKnown() ?
            new Interval(interval.low(), Arrays.stream(bytes).max().getAsDouble()) : interval);
        return new BenchResult(name, BYTES, median.value(), 0, NOTHING, 0, bytes.length, 0, Interval.UNKNOWN, highest);
    }

    /**
     * The instructions of the same work.
     *
     * @param name         label of the measurement
     * @param ringpoll     instructions of ringpoll
     * @param baseline     instructions of the baseline
     * @param baselineName label of the baseline
     * @return one run without an interval
     */
    public static BenchResult ofInstructions(
        final String name, final double ringpoll, final double baseline, final String baselineName) {
        return new BenchResult(name, INSTRUCTIONS, ringpoll, baseline, baselineName, ringpoll / baseline, 1, 0, Interval.UNKNOWN,
            new Estimate(ringpoll - baseline, Interval.UNKNOWN));
    }

    /**
     * The same runs by another statistic than their median.
     *
     * @param ofRingpoll the figure of ringpoll over all runs
     * @param ofBaseline the figure of the baseline over all runs
     * @param ofRatio    confidence interval of the ratio of the two
     * @return with the ratio of the two; the spread remains that of the runs
     */
    public BenchResult with(final double ofRingpoll, final double ofBaseline, final Interval ofRatio) {
        return new BenchResult(name, unit, ofRingpoll, ofBaseline, baselineName, ofRingpoll / ofBaseline, runs, spread, ofRatio,
            new Estimate(ofRingpoll - ofBaseline, Interval.UNKNOWN));
    }

    /**
     * The ratio with its interval.
     *
     * @return for instance {@code "1.021 (1.003 to 1.044)"}, or the ratio alone if the interval is not known; {@code "-"} beside
     *     {@link #NOTHING}
     */
    public String ratioText() {
        return baselineName.equals(NOTHING) ? "-" : new Estimate(ratio, interval).text("%.3f");
    }

    /**
     * The difference that the runs show.
     *
     * @return {@link Difference#NOT_SHOWN} if the interval contains 1
     */
    public Difference difference() {
        return Difference.of(interval);
    }
}
