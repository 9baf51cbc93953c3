package io.ringpoll.bench.processes;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * What the client's end has measured in a turn: the line in which its process prints it.
 *
 * @param costsNs p50, p90 and p99 of half round trips, or the time of a transfer; empty if nothing was recorded
 */
record EndFigures(List<Double> costsNs) {
    /** Nothing was measured. */
    static final EndFigures NONE = new EndFigures(List.of());

    private static final double[] PERCENTILES = {50, 90, 99};

    EndFigures {
        costsNs = List.copyOf(costsNs);
    }

    /** Of half round trips. */
    static EndFigures of(final Histogram halfNs) {
        return halfNs.getTotalCount() == 0 ? NONE : new EndFigures(
            Arrays.stream(PERCENTILES).mapToObj(each -> (double) halfNs.getValueAtPercentile(each)).toList());
    }

    /** Of transfers; NaN is none. */
    static EndFigures ofTransfers(final double nsEach) {
        return Double.isNaN(nsEach) ? NONE : new EndFigures(List.of(nsEach));
    }

    /** Reads the words of {@link #toString()}. */
    static EndFigures parse(final List<String> words) {
        return new EndFigures(words.stream().map(Double::valueOf).toList());
    }

    @Override
    public String toString() {
        return costsNs.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }
}
