package io.ringpoll.bench.throughput;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.pipeline.WaitMode;
import java.util.List;
import java.util.Locale;

/**
 * The settings of a measurement.
 *
 * @param handlers  handlers that share the three paths
 * @param inBatches whether our handlers take batches
 * @param regimes   how handlers begin; each is measured
 * @param handOffs  ours first
 * @param rounds    rounds in which each has its turn
 * @param warmUp    rounds before that
 * @param ringSize  slots
 * @param batch     completions that a poll asks for
 * @param waitStrategy how threads wait
 * @param cpus      where they are pinned
 * @param leadInMs  before the first reading of a turn
 * @param windowMs  between its two readings
 */
public record ThroughputConfig(
    int handlers, boolean inBatches, List<Regime> regimes, List<HandOff> handOffs, int rounds, int warmUp, int ringSize,
    int batch, WaitMode waitStrategy, HotCpus cpus, long leadInMs, long windowMs) {

    /** The name of the measurement in results. */
    String name() {
        return handlers + "-handlers" + (inBatches ? "-in-batches" : "");
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d handler(s)%s, ring of %d, batch %d; %s; waiting by %s", handlers,
            inBatches ? " in batches" : "", ringSize, batch, cpus,
            waitStrategy.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    }
}
