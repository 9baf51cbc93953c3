package io.ringpoll.bench.suite;

import io.ringpoll.bench.measure.BenchResult;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs JMH benchmarks in turns: in each round every benchmark has its own JVM, so that ringpoll and its baseline are measured
 * seconds apart and not minutes. The order of a round is random, by a fixed seed, so that neither is always the first of a pair.
 *
 * <p>Used by one thread.
 */
final class JmhRounds {
    private static final String ALLOCATED = "gc.alloc.rate.norm";
    private static final double MEDIAN = 50;
    private static final long SEED = 1;

    private final Effort effort;
    private final Map<Variant, List<Double>> costsNs = new LinkedHashMap<>();
    private final Map<Variant, Double> allocatedBytes = new LinkedHashMap<>();

    JmhRounds(final Effort effort) {
        this.effort = effort;
    }

    /** The variants of the comparisons, each once per round. */
    static Set<Variant> variants(final Collection<Comparison> comparisons) {
        final Set<Variant> variants = new LinkedHashSet<>();
        for (final Comparison comparison : comparisons) {
            variants.add(comparison.ours());
            variants.add(comparison.baseline());
        }
        return variants;
    }

    /** The turns of all rounds in their order. */
    static List<Variant> turns(final Collection<Comparison> comparisons, final int rounds) {
        final List<Variant> order = new ArrayList<>(variants(comparisons));
        final Random random = new Random(SEED);
        final List<Variant> turns = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            Collections.shuffle(order, random);
            turns.addAll(order);
        }
        return turns;
    }

    /** Runs all rounds of comparisons. */
    List<BenchResult> measure(final List<Comparison> comparisons, final Consumer<Variant> progress) throws RunnerException {
        for (final Variant variant : turns(comparisons, effort.rounds())) {
            progress.accept(variant);
            run(variant);
        }
        return comparisons.stream().map(comparison -> BenchResult.ofCosts(comparison.name(),
            costs(comparison.ours(), comparison.perOperation()), costs(comparison.baseline(), comparison.perOperation()),
            comparison.baselineName())).toList();
    }

    /** Bytes that an operation of a benchmark allocates, in all threads: the minimum of the rounds. */
    double allocatedBytes(final Variant variant) {
        return allocatedBytes.get(variant);
    }

    private void run(final Variant variant) throws RunnerException {
        final ChainedOptionsBuilder options = new OptionsBuilder().include(variant.pattern()).forks(1)
            .addProfiler(GCProfiler.class).verbosity(VerboseMode.SILENT).shouldFailOnError(true);
        variant.params().forEach(options::param);
        effort.apply(options);
        final RunResult result = new Runner(options.build()).run().iterator().next();
        final Result<?> primary = result.getPrimaryResult();
        costsNs.computeIfAbsent(variant, unused -> new ArrayList<>()).add(median(result, primary));
        final Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
        allocatedBytes.merge(variant, allocated == null ? Double.NaN : allocated.getScore(), Math::min);
    }

    /** The median over iterations, or over all samples: a disturbed one does not affect it. */
    private static double median(final RunResult result, final Result<?> primary) {
        final List<Double> scores = new ArrayList<>();
        result.getBenchmarkResults().forEach(fork ->
            fork.getIterationResults().forEach(iteration ->
                scores.add(iteration.getPrimaryResult().getStatistics().getPercentile(MEDIAN))));
        if (scores.isEmpty()) {
            return primary.getScore();
        }
        scores.sort(Double::compare);
        return scores.get(scores.size() / 2);
    }

    private double[] costs(final Variant variant, final int perOperation) {
        return costsNs.get(variant).stream().mapToDouble(cost -> cost / perOperation).toArray();
    }
}
