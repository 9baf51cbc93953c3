package io.ringpoll.bench.throughput;

import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.synthetic.SyntheticSource;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Measures the cost of a completion from a saturated queue to the handlers, of ringpoll and its baselines in turns. Used by one
 * thread.
 */
public final class ThroughputMeasurement {
    private final ThroughputConfig config;
    private final Optional<NodeCensus> census;
    private final PrintWriter turns;

    /**
     * Creates a measurement.
     *
     * @param config its settings
     * @param census census of memory placement, run in a separate turn; may be empty
     * @param turns  receives a line for each turn; null for none
     */
    public ThroughputMeasurement(final ThroughputConfig config, final Optional<NodeCensus> census, final PrintWriter turns) {
        this.config = config;
        this.census = census;
        this.turns = turns;
    }

    /**
     * Measures.
     *
     * @return the report
     */
    public ThroughputReport run() {
        final List<ThroughputWindow> windows = new ArrayList<>();
        try (SyntheticSource source = SyntheticSource.open()) {
            final ThroughputMeter meter = new ThroughputMeter(source, config, Mixes.usual());
            for (final Regime each : config.regimes()) {
                meter.measure(config.handOffs(), each, config.warmUp(), window -> { });
            }
            for (final Regime each : config.regimes()) {
                windows.addAll(meter.measure(config.handOffs(), each, config.rounds(), this::show));
            }
            census.ifPresent(looked -> looked.during(
                () -> meter.measure(config.handOffs(), config.regimes().getFirst(), 1, window -> { })));
        }
        return new ThroughputReport(config.name(), config.handOffs(), windows, census);
    }

    private void show(final ThroughputWindow window) {
        if (turns != null) {
            turns.printf(Locale.ROOT, "%3d %-26s %-9s %8.2f ns  %5.1f %% of the ring waiting, lost %.2f ms, %d switches %s%n",
                window.round(), window.label(), window.regime(), window.nsPerCompletion(), 100 * window.occupiedShare(),
                window.loss().lostNs() / 1e6, window.loss().involuntarySwitches(), window.counts() ? "" : "(does not count)");
            turns.flush();
        }
    }
}
