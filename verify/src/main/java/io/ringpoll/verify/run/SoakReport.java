package io.ringpoll.verify.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * Judges the drift of a long run: in its second half, memory must not grow, and the latency must be that of the first half. The
 * beginning is left out, until the run has settled.
 *
 * @param samples in order
 */
record SoakReport(List<Soak.Sample> samples) {
    private static final int FEWEST = 8;
    /** Before that the JIT still compiles, and the threads of the first connections get their arenas from the C library. */
    private static final double SHORTEST_SECONDS = 100;
    private static final double MIB = 1 << 20;
    /**
     * Over the second half. In ten minutes of the usual mix that is 100 bytes for each of the 10,000 temporary connections: less
     * than one object of each.
     */
    private static final double MEMORY_LIMIT = 1 << 20;
    private static final double P50_FACTOR = 2;
    private static final double P99_FACTOR = 4;
    private static final double LATENCY_SLACK_NS = 20_000;
    /** Bytes per million completions: an occasional string of the JIT, no object per completion. */
    private static final double ALLOCATION_LIMIT = 1_000;

    /**
     * One quantity.
     *
     * @param what   its name
     * @param before at the middle of the run, or in its first half
     * @param after  at its end, or in its second half
     * @param limit  the maximum afterwards
     */
    record Verdict(String what, double before, double after, double limit) {
        boolean isConstant() {
            return after <= limit;
        }
    }

    boolean isLongEnough() {
        return samples.size() >= FEWEST && samples.getLast().seconds() >= SHORTEST_SECONDS;
    }

    boolean isSound() {
        return !isLongEnough() || verdicts().stream().allMatch(Verdict::isConstant);
    }

    List<Verdict> verdicts() {
        return List.of(
            grown("resident MiB", Soak.Sample::residentBytes),
            grown("C heap in use MiB", Soak.Sample::mallocBytes),
            grown("Java heap in use MiB", Soak.Sample::heapBytes),
            new Verdict("bytes allocated per million completions", 0, allocatedPerMillion(), ALLOCATION_LIMIT),
            slower("p50 us", Soak.Sample::p50Ns, P50_FACTOR),
            slower("p99 us", Soak.Sample::p99Ns, P99_FACTOR));
    }

    /** By the trend of the second half: its start and its end. */
    private Verdict grown(final String what, final ToLongFunction<Soak.Sample> quantity) {
        final List<Soak.Sample> half = samples.subList(samples.size() / 2, samples.size());
        final double[] at = half.stream().mapToDouble(Soak.Sample::seconds).toArray();
        final double[] values = half.stream().mapToDouble(quantity::applyAsLong).toArray();
        final double growth = Trend.slope(at, values) * (half.getLast().seconds() - half.getFirst().seconds());
        final double middle = Trend.median(values);
        final double before = middle - growth / 2;
        return new Verdict(what, before / MIB, (middle + growth / 2) / MIB, (before + MEMORY_LIMIT) / MIB);
    }

    /** By the better intervals of each half: an interval without its CPUs is not significant. */
    private Verdict slower(final String what, final ToLongFunction<Soak.Sample> quantity, final double factor) {
        final double before = lowerQuartile(samples.subList(0, samples.size() / 2), quantity);
        final double after = lowerQuartile(samples.subList(samples.size() / 2, samples.size()), quantity);
        return new Verdict(what, before / 1e3, after / 1e3, Math.max(before * factor, before + LATENCY_SLACK_NS) / 1e3);
    }

    private double allocatedPerMillion() {
        final long completions = samples.stream().mapToLong(Soak.Sample::completions).sum();
        return samples.stream().mapToLong(Soak.Sample::allocatedBytes).sum() * 1e6 / Math.max(1, completions);
    }

    private static double lowerQuartile(final List<Soak.Sample> some, final ToLongFunction<Soak.Sample> quantity) {
        return some.stream().mapToLong(quantity).sorted().skip(some.size() / 4).findFirst().orElse(0);
    }

    void print(final PrintWriter out) {
        if (!isLongEnough()) {
            out.printf(Locale.ROOT, "soak                 too short to assess: needs %.0f s and %d samples at least%n",
                SHORTEST_SECONDS, FEWEST);
            return;
        }
        out.printf("%nsoak, %d samples: memory by the trend of the second half, latency by the better intervals of both halves%n",
            samples.size());
        for (final Verdict verdict : verdicts()) {
            out.printf(Locale.ROOT, "%-40s %,12.2f %,12.2f  %s (limit %,.2f)%n", verdict.what, verdict.before, verdict.after,
                verdict.isConstant() ? "constant" : "NOT CONSTANT", verdict.limit);
        }
    }

    void writeTo(final ObjectNode root) {
        final ObjectNode soak = root.putObject("soak");
        if (isLongEnough()) {
            final ObjectNode verdicts = soak.putObject("verdicts");
            verdicts().forEach(verdict -> verdicts.putObject(verdict.what).put("before", verdict.before)
                .put("after", verdict.after).put("limit", verdict.limit).put("constant", verdict.isConstant()));
        }
        final var each = soak.putArray("samples");
        samples.forEach(sample -> each.addObject().put("seconds", Math.round(sample.seconds() * 10) / 10.0)
            .put("completions", sample.completions()).put("residentBytes", sample.residentBytes())
            .put("mallocBytes", sample.mallocBytes()).put("heapBytes", sample.heapBytes())
            .put("allocatedBytes", sample.allocatedBytes())
            .put("p50Ns", sample.p50Ns()).put("p99Ns", sample.p99Ns()).put("maxNs", sample.maxNs()));
    }
}
