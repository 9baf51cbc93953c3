package io.ringpoll.bench.measure;

/**
 * One figure of ours beside one of something honest.
 *
 * @param name         what was measured
 * @param unit         {@code ns} (lower is better) or {@code ops/s} (higher is better)
 * @param ringpoll     ours, a median
 * @param baseline     the other's, a median
 * @param baselineName who the other is
 * @param ratio        our cost by the baseline's, the median over runs; below 1 is better than the baseline
 * @param runs         how often both were measured, side by side
 * @param spread       distance between the quartiles of the runs' ratios
 */
public record BenchResult(String name, String unit, double ringpoll, double baseline, String baselineName, double ratio,
                          int runs, double spread) {
    /** Nanoseconds, where less is better. */
    public static final String NS = "ns";

    /**
     * Compares runs that were made side by side.
     *
     * @param name         what was measured
     * @param ringpollNs   our costs in nanoseconds
     * @param baselineNs   the baseline's, as many
     * @param baselineName who that is
     * @return the medians, and the median of the ratios run by run
     */
    public static BenchResult ofCosts(
        final String name, final double[] ringpollNs, final double[] baselineNs, final String baselineName) {
        if (ringpollNs.length != baselineNs.length || ringpollNs.length == 0) {
            throw new IllegalArgumentException(ringpollNs.length + " runs beside " + baselineNs.length);
        }
        final double[] ratios = new double[ringpollNs.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = ringpollNs[i] / baselineNs[i];
        }
        final Spread spread = Spread.of(ratios);
        return new BenchResult(name, NS, Spread.of(ringpollNs).median(), Spread.of(baselineNs).median(), baselineName,
            spread.median(), spread.runs(), spread.width());
    }
}
