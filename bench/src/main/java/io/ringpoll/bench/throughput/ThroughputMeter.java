package io.ringpoll.bench.throughput;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Outcome;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.synthetic.CompletionMix;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Measures hand-offs in turns: each has one window per round, all of the same length and after a collection of garbage. The order
 * of a round is random, by the seed of the configuration, so that neither changes of the machine nor a predecessor favour one.
 *
 * <p>A window starts new threads, lets them run in, and takes two readings. Used by one thread.
 */
final class ThroughputMeter {
    private static final long SAMPLE_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int STALL_US = 5_000;

    private final SyntheticSource source;
    private final ThroughputConfig config;
    private final CompletionMix mix;
    private final Random random;

    ThroughputMeter(final SyntheticSource source, final ThroughputConfig config, final CompletionMix mix) {
        this.source = source;
        this.config = config;
        this.mix = mix;
        this.random = new Random(config.seed());
    }

    /** Measures all hand-offs in a regime, round by round. */
    List<ThroughputWindow> measure(
        final List<HandOff> handOffs, final Regime regime, final int rounds, final Consumer<ThroughputWindow> progress) {
        final List<ThroughputWindow> windows = new ArrayList<>();
        final List<HandOff> order = new ArrayList<>(handOffs);
        for (int round = 0; round < rounds; round++) {
            Collections.shuffle(order, random);
            for (final HandOff handOff : order) {
                final ThroughputWindow window = window(round, handOff, regime);
                progress.accept(window);
                windows.add(window);
            }
        }
        return windows;
    }

    private ThroughputWindow window(final int round, final HandOff handOff, final Regime regime) {
        final Job job = new Job(source.queue(), source.context(), config.handlers(), config.ringSize(), config.batch(),
            config.waitStrategy(), config.cpus(), 0, 0, regime == Regime.TRAILING ? STALL_US : 0);
        source.stop();
        System.gc();
        final HandOff.Running running = handOff.start(job);
        source.start(SyntheticProgram.of(mix, Schedule.saturation()));
        Timing.sleepUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.leadInMs()));
        final CpuWatch watch = CpuWatch.ofThisProcess();
        final AllocationWatch allocations = new AllocationWatch();
        allocations.start();
        watch.start();
        final long firstNs = System.nanoTime();
        final long first = running.handled();
        final long endNs = firstNs + TimeUnit.MILLISECONDS.toNanos(config.windowMs());
        long waiting = 0;
        int samples = 0;
        while (System.nanoTime() < endNs) {
            Timing.sleepUntil(Math.min(endNs, System.nanoTime() + SAMPLE_INTERVAL_NS));
            final long handled = running.handled();
            waiting += Math.max(0, running.polled() - handled);
            samples++;
        }
        final long lastNs = System.nanoTime();
        final long last = running.handled();
        final CpuLoss lost = watch.stop();
        final double allocatedBytes = allocations.stop(last - first);
        final CpuLoss loss = config.cpus().areExclusive(config.handlers()) ? lost : lost.stolenOnly();
        source.stop();
        final Outcome outcome = running.stop();
        final double costNs = costNs(lastNs - firstNs, last - first);
        return new ThroughputWindow(round, handOff.label(), regime, costNs,
            Math.min(1, waiting / (double) samples / config.ringSize()), loss, allocatedBytes, fault(outcome));
    }

    /** The cost of a completion. The number of handled ones is approximate: over a window without any it can be negative. */
    static double costNs(final long durationNs, final long handled) {
        return handled > 0 ? durationNs / (double) handled : Double.POSITIVE_INFINITY;
    }

    private static String fault(final Outcome outcome) {
        if (!outcome.fault().isEmpty()) {
            return outcome.fault();
        }
        return outcome.isSound(true) ? "" : "polled " + outcome.polled() + " completions, handled " + outcome.handled();
    }
}
