package io.ringpoll.bench.growth;

import io.ringpoll.bench.handoff.EmptyQueues;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.bench.handoff.Outcome;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * Measures one turn of a contestant at a point: new threads, a lead-in, and two readings. Each turn has new queues, as a poller
 * keeps its queues to itself: a queue that several threads have polled in turns is protected by a lock. Each poller has a device
 * of its own. Used by one thread.
 */
final class GrowthMeter {
    /** Slow enough that a poller with many queues is almost always in an empty round. */
    private static final long DELAY_RATE = 20_000;
    private static final double MEDIAN = 50;
    /** Maximum wait for completions that were due at the end of a turn. */
    private static final long LATEST_NS = TimeUnit.SECONDS.toNanos(5);

    private final GrowthConfig config;
    private final Schedule paced = Schedule.random(DELAY_RATE, 1);
    private final Map<Integer, GrowthCpus> cpus = new HashMap<>();

    GrowthMeter(final GrowthConfig config) {
        this.config = config;
        final Topology topology = Topology.ofThisMachine();
        for (final GrowthPoint point : config.points()) {
            cpus.computeIfAbsent(point.pollers(), pollers -> GrowthCpus.planned(topology, pollers));
        }
    }

    GrowthWindow turn(final int round, final GrowthPoint point, final HandOff handOff) {
        final List<SyntheticSource> sources = new ArrayList<>();
        try (EmptyQueues empty = new EmptyQueues(point.emptyQueues())) {
            for (int i = 0; i < point.pollers(); i++) {
                sources.add(SyntheticSource.open());
            }
            System.gc();
            return point.measure() == GrowthMeasure.COST ? cost(round, point, handOff, sources, empty.all()) :
                delay(round, point, handOff, sources, empty.all());
        } finally {
            sources.forEach(SyntheticSource::close);
        }
    }

    private GrowthWindow cost(final int round, final GrowthPoint point, final HandOff handOff,
        final List<SyntheticSource> sources, final EmptyQueues.Pair empty) {
        final List<HandOff.Running> running = start(point, handOff, sources, empty, 0, 0);
        sources.forEach(source -> source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation())));
        Timing.sleepUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.leadInMs()));
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        final long firstNs = System.nanoTime();
        final long first = handled(running);
        Timing.sleepUntil(firstNs + TimeUnit.MILLISECONDS.toNanos(config.windowMs()));
        final long lastNs = System.nanoTime();
        final long last = handled(running);
        final CpuLoss loss = loss(watch, point);
        sources.forEach(SyntheticSource::stop);
        final String fault = faults(running.stream().map(HandOff.Running::stop).toList(), true);
        return new GrowthWindow(round, point, handOff.label(), (lastNs - firstNs) / (double) (last - first), loss, fault);
    }

    private GrowthWindow delay(final int round, final GrowthPoint point, final HandOff handOff,
        final List<SyntheticSource> sources, final EmptyQueues.Pair empty) {
        final SyntheticSource source = sources.getFirst();
        final long leadInNs = TimeUnit.MILLISECONDS.toNanos(config.leadInMs());
        final long windowNs = TimeUnit.MILLISECONDS.toNanos(config.windowMs());
        final long startNs = System.nanoTime() + handOff.startTimeNs();
        final long fromNs = startNs + leadInNs;
        final List<HandOff.Running> running = start(point, handOff, sources, empty, fromNs, fromNs + windowNs);
        final long all = paced.dueWithin(leadInNs + windowNs);
        source.start(SyntheticProgram.of(Mixes.usual(), paced).startingAt(startNs).limitedTo(all));
        Timing.sleepUntil(fromNs);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        Timing.sleepUntil(fromNs + windowNs);
        final CpuLoss loss = loss(watch, point);
        final boolean complete = handledAll(running, all, fromNs + windowNs + LATEST_NS);
        source.stop();
        final Outcome outcome = running.getFirst().stop();
        final Histogram latencyNs = outcome.latencyNs();
        final String fault = complete ? faults(List.of(outcome), false) : "not all completions were handled in time";
        return new GrowthWindow(round, point, handOff.label(),
            latencyNs.getTotalCount() == 0 ? Double.NaN : latencyNs.getValueAtPercentile(MEDIAN), loss, fault);
    }

    private List<HandOff.Running> start(final GrowthPoint point, final HandOff handOff, final List<SyntheticSource> sources,
        final EmptyQueues.Pair empty, final long recordFromNs, final long recordUntilNs) {
        final GrowthCpus places = cpus.get(point.pollers());
        final List<HandOff.Running> running = new ArrayList<>();
        boolean started = false;
        try {
            for (int i = 0; i < point.pollers(); i++) {
                final SyntheticSource source = sources.get(i);
                final HotCpus pair = places.pairs().get(i);
                running.add(handOff.start(new Job(source.queue(), source.context(), 1, point.ringSize(), point.batch(),
                    places.waitStrategy(), pair, recordFromNs, recordUntilNs, 0, empty)));
            }
            started = true;
        } finally {
            if (!started) {
                running.forEach(HandOff.Running::stop);
            }
        }
        return running;
    }

    private CpuLoss loss(final CpuWatch watch, final GrowthPoint point) {
        final CpuLoss lost = watch.stop();
        return cpus.get(point.pollers()).areExclusive() ? lost : lost.stolenOnly();
    }

    private static long handled(final List<HandOff.Running> running) {
        long handled = 0;
        for (final HandOff.Running each : running) {
            handled += each.handled();
        }
        return handled;
    }

    private static boolean handledAll(final List<HandOff.Running> running, final long all, final long deadlineNs) {
        try {
            Timing.await(() -> handled(running) >= all, deadlineNs, "all that was due");
            return true;
        } catch (final TimeoutException late) {
            return false;
        }
    }

    private static String faults(final List<Outcome> outcomes, final boolean saturated) {
        for (final Outcome outcome : outcomes) {
            if (!outcome.isSound(saturated)) {
                return outcome.fault().isEmpty() ?
                    "polled " + outcome.polled() + " completions, handled " + outcome.handled() : outcome.fault();
            }
        }
        return "";
    }
}
