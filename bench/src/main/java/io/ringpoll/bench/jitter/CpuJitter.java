package io.ringpoll.bench.jitter;

import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The interruptions of one loop on one CPU.
 *
 * @param cpu                 the CPU
 * @param gaps                gaps of at least the floor, in nanoseconds
 * @param spins               number of clock reads
 * @param elapsedNs           running time of the loop
 * @param voluntarySwitches   voluntary context switches of the thread
 * @param involuntarySwitches involuntary context switches of the thread
 * @param stolenNs            steal time of the CPU during the loop, in steps of 10 ms
 * @param interrupts          interrupts that the CPU served during the loop, most frequent first
 */
public record CpuJitter(int cpu, Histogram gaps, long spins, long elapsedNs, long voluntarySwitches, long involuntarySwitches,
                        long stolenNs, Map<String, Long> interrupts) {
    /**
     * The share of the time that was lost in gaps.
     *
     * @return from 0 to 1
     */
    public double lostShare() {
        // Buckets have a precision of 1 %, so the sum can exceed the time by as much.
        double sum = 0;
        for (final var value : gaps.recordedValues()) {
            sum += (double) value.getCountAtValueIteratedTo() * gaps.medianEquivalentValue(value.getValueIteratedTo());
        }
        return elapsedNs == 0 ? 0 : Math.min(1, sum / elapsedNs);
    }

    /**
     * The number of gaps that were longer than a threshold.
     *
     * @param thresholdNs the threshold in nanoseconds
     * @return the count
     */
    public long countOver(final long thresholdNs) {
        return thresholdNs >= gaps.getMaxValue() ? 0 : gaps.getCountBetweenValues(gaps.nextNonEquivalentValue(thresholdNs),
            SpinLoop.MAX_GAP_NS);
    }

    /**
     * The number of gaps between two lengths.
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

    /** Merges two slices of the same CPU. */
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
