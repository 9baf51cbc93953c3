package io.ringpoll.bench.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * Whether a long run stayed as it was: its samples, and for each quantity the medians of the first and last quarters of them.
 *
 * @param samples in their order
 */
record SoakReport(List<Soak.Sample> samples) {
    private static final int FEWEST = 8;
    private static final int QUARTERS = 4;
    /** The first of the verdicts. */
    private static final int MEMORY_VERDICTS = 3;
    private static final double MIB = 1 << 20;
    private static final long RESIDENT_SLACK = 8 << 20;
    private static final long MALLOC_SLACK = 1 << 20;
    private static final double MEMORY_FACTOR = 1.02;
    private static final double P50_FACTOR = 2;
    private static final double P99_FACTOR = 4;
    private static final long LATENCY_SLACK_NS = 20_000;
    /** Bytes for each million completions: an occasional string of the JIT's, nothing of a completion's. */
    private static final double ALLOCATION_LIMIT = 1_000;

    /**
     * One quantity.
     *
     * @param what     it is
     * @param first    median of the first quarter
     * @param last     median of the last quarter
     * @param limit    the most that the last may be
     * @param constant whether it is no more
     */
    record Verdict(String what, double first, double last, double limit, boolean constant) {
        static Verdict of(final String what, final double first, final double last, final double limit) {
            return new Verdict(what, first, last, limit, last <= limit);
        }
    }

    boolean isLongEnough() {
        return samples.size() >= FEWEST;
    }

    /** Whether memory and allocation stayed as they were; latency is the machine's as well, and is only told. */
    boolean isSound() {
        return !isLongEnough() || verdicts().stream().limit(MEMORY_VERDICTS).allMatch(Verdict::constant);
    }

    List<Verdict> verdicts() {
        return List.of(
            grown("resident MiB", Soak.Sample::residentBytes, MIB, MEMORY_FACTOR, RESIDENT_SLACK),
            grown("malloc MiB", Soak.Sample::mallocBytes, MIB, MEMORY_FACTOR, MALLOC_SLACK),
            Verdict.of("bytes allocated per million completions", 0, allocatedPerMillion(), ALLOCATION_LIMIT),
            grown("p50 us", Soak.Sample::p50Ns, 1e3, P50_FACTOR, LATENCY_SLACK_NS),
            grown("p99 us", Soak.Sample::p99Ns, 1e3, P99_FACTOR, LATENCY_SLACK_NS));
    }

    private Verdict grown(
        final String what, final ToLongFunction<Soak.Sample> quantity, final double unit, final double factor, final long slack) {
        final int quarter = Math.max(1, samples.size() / QUARTERS);
        final long first = median(samples.subList(0, quarter), quantity);
        final long last = median(samples.subList(samples.size() - quarter, samples.size()), quantity);
        return Verdict.of(what, first / unit, last / unit, Math.max(first * factor, first + slack) / unit);
    }

    private double allocatedPerMillion() {
        final long completions = samples.stream().mapToLong(Soak.Sample::completions).sum();
        return samples.stream().mapToLong(Soak.Sample::allocatedBytes).sum() * 1e6 / Math.max(1, completions);
    }

    private static long median(final List<Soak.Sample> some, final ToLongFunction<Soak.Sample> quantity) {
        return some.stream().mapToLong(quantity).sorted().skip(some.size() / 2).findFirst().orElse(0);
    }

    void print(final PrintWriter out) {
        if (!isLongEnough()) {
            out.printf("soak                 %d samples are too few to judge by%n", samples.size());
            return;
        }
        out.printf("%nsoak, %d samples: medians of the first and of the last quarter%n", samples.size());
        for (final Verdict verdict : verdicts()) {
            out.printf(Locale.ROOT, "%-40s %,12.1f %,12.1f  %s (limit %,.1f)%n", verdict.what, verdict.first, verdict.last,
                verdict.constant ? "constant" : "NOT CONSTANT", verdict.limit);
        }
    }

    void writeTo(final ObjectNode root) {
        final ObjectNode soak = root.putObject("soak");
        if (isLongEnough()) {
            final ObjectNode verdicts = soak.putObject("verdicts");
            verdicts().forEach(verdict -> verdicts.putObject(verdict.what).put("first", verdict.first).put("last", verdict.last)
                .put("limit", verdict.limit).put("constant", verdict.constant));
        }
        final var each = soak.putArray("samples");
        samples.forEach(sample -> each.addObject().put("seconds", Math.round(sample.seconds() * 10) / 10.0)
            .put("completions", sample.completions()).put("residentBytes", sample.residentBytes())
            .put("mallocBytes", sample.mallocBytes()).put("allocatedBytes", sample.allocatedBytes())
            .put("p50Ns", sample.p50Ns()).put("p99Ns", sample.p99Ns()).put("maxNs", sample.maxNs()));
    }
}
