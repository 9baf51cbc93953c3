package io.ringpoll.bench.latency;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * The latencies of several turns together, of which any selection can be pooled quickly: for the bootstrap of percentiles, which
 * selects turns some thousand times. A turn is drawn as a whole, since its latencies are not independent of each other.
 */
public final class PooledLatencies {
    private static final double PERCENT = 100;

    private final long[] values;
    /** Per turn, the number of latencies with each value. */
    private final long[][] counts;

    /**
     * Prepares the turns.
     *
     * @param turns the latencies of each turn
     */
    public PooledLatencies(final List<Histogram> turns) {
        final SortedMap<Long, long[]> countsByValue = new TreeMap<>();
        for (int turn = 0; turn < turns.size(); turn++) {
            for (final HistogramIterationValue recorded : turns.get(turn).recordedValues()) {
                countsByValue.computeIfAbsent(recorded.getValueIteratedTo(), unused -> new long[turns.size()])[turn] +=
                    recorded.getCountAtValueIteratedTo();
            }
        }
        values = countsByValue.keySet().stream().mapToLong(Long::longValue).toArray();
        counts = new long[turns.size()][values.length];
        int index = 0;
        for (final long[] ofTurns : countsByValue.values()) {
            for (int turn = 0; turn < ofTurns.length; turn++) {
                counts[turn][index] = ofTurns[turn];
            }
            index++;
        }
    }

    /**
     * A percentile of turns together.
     *
     * @param percentile from 0 to 100
     * @param turns      indexes of turns; one that is given twice counts twice
     * @return the value, NaN if the turns recorded nothing
     */
    public double percentileNs(final double percentile, final int... turns) {
        final long[] pooled = new long[values.length];
        long total = 0;
        for (final int turn : turns) {
            for (int i = 0; i < pooled.length; i++) {
                pooled[i] += counts[turn][i];
                total += counts[turn][i];
            }
        }
        final long rank = Math.max(1, (long) Math.ceil(percentile / PERCENT * total));
        long below = 0;
        for (int i = 0; i < pooled.length; i++) {
            below += pooled[i];
            if (below >= rank) {
                return values[i];
            }
        }
        return Double.NaN;
    }
}
