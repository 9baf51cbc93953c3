package io.ringpoll.bench.throughput;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.pipeline.WaitMode;
import java.util.List;
import java.util.Locale;

/**
 * The settings of a measurement.
 *
 * @param handlers     handlers that share the three paths
 * @param mode         how completions get to the handlers of ringpoll
 * @param regimes      initial lags of the handlers; each is measured
 * @param handOffs     hand-offs, ringpoll first
 * @param rounds       measured rounds, with one turn of each
 * @param warmUp       warm-up rounds
 * @param ringSize     slots of the ring
 * @param batch        maximum completions per poll
 * @param waitStrategy wait strategy of the threads
 * @param cpus         CPUs of the threads
 * @param leadInMs     time before the first reading of a turn
 * @param windowMs     time between its two readings
 * @param seed         seed of the order of the turns in each round
 */
public record ThroughputConfig(
    int handlers, RingpollHandOff.Mode mode, List<Regime> regimes, List<HandOff> handOffs, int rounds, int warmUp, int ringSize,
    int batch, WaitMode waitStrategy, HotCpus cpus, long leadInMs, long windowMs, long seed) {

    /** The name of the measurement in results. */
    String name() {
        return handlers + "-handlers" + mode.suffix();
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d handler(s)%s, ring of %d, batch %d; %s; waiting by %s; order %d", handlers,
            mode.suffix().replace('-', ' '), ringSize, batch, cpus,
            waitStrategy.name().toLowerCase(Locale.ROOT).replace('_', '-'), seed);
    }
}
