package io.ringpoll.bench.jitter;

import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What one loop saw on one CPU.
 *
 * @param cpu                 the CPU
 * @param gaps                the gaps of at least the floor, in nanoseconds
 * @param spins               how often the clock was read
 * @param elapsedNs           how long the loop ran
 * @param voluntarySwitches   how often the thread gave the CPU up
 * @param involuntarySwitches how often the CPU was taken from it
 * @param stolenNs            how much of the CPU's time the hypervisor took meanwhile, in steps of 10 ms
 * @param interrupts          how often the CPU served which interrupt meanwhile, most frequent first
 */
public record CpuJitter(int cpu, Histogram gaps, long spins, long elapsedNs, long voluntarySwitches, long involuntarySwitches,
                        long stolenNs, Map<String, Long> interrupts) {
    /**
     * The share of the time that was lost in gaps.
     *
     * @return from 0 to 1
     */
    public double lostShare() {
        // Buckets hold a value to 1 %, so the sum can exceed the time by as much.
        double sum = 0;
        for (final var value : gaps.recordedValues()) {
            sum += (double) value.getCountAtValueIteratedTo() * gaps.medianEquivalentValue(value.getValueIteratedTo());
        }
        return elapsedNs == 0 ? 0 : Math.min(1, sum / elapsedNs);
    }

    /**
     * How many gaps were longer than a threshold.
     *
     * @param thresholdNs the threshold in nanoseconds
     * @return the count
     */
    public long countOver(final long thresholdNs) {
        return thresholdNs >= gaps.getMaxValue() ? 0 : gaps.getCountBetweenValues(gaps.nextNonEquivalentValue(thresholdNs),
            SpinLoop.MAX_GAP_NS);
    }

    /**
     * How many gaps lie between two lengths.
     *
     * @param fromNs the shorter, in nanoseconds, included
     * @param toNs   the longer, in nanoseconds, excluded
     * @return the count
     */
    public long countBetween(final long fromNs, final long toNs) {
        long count = 0;
        for (final var value : gaps.recordedValues()) {
            final long middle = gaps.medianEquivalentValue(value.getValueIteratedTo());
            count += middle >= fromNs && middle < toNs ? value.getCountAtValueIteratedTo() : 0;
        }
        return count;
    }

    /** This and another slice of the same CPU, as one. */
    CpuJitter plus(final CpuJitter other) {
        final Histogram sum = gaps.copy();
        sum.add(other.gaps);
        final Map<String, Long> all = new LinkedHashMap<>(interrupts);
        other.interrupts.forEach((name, count) -> all.merge(name, count, Long::sum));
        return new CpuJitter(cpu, sum, spins + other.spins, elapsedNs + other.elapsedNs,
            voluntarySwitches + other.voluntarySwitches, involuntarySwitches + other.involuntarySwitches,
            stolenNs + other.stolenNs, CpuCounters.sorted(all));
    }
}
