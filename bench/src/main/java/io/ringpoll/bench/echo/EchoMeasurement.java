package io.ringpoll.bench.echo;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Rounds;
import io.ringpoll.bench.measure.Timing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Measures an echo of the layer of connections and its baselines. All contestants of a number of connections are open at the same
 * time, and sleep except in their turns. The order in which they are opened and that of the turns of a round are random, by the
 * seed of the settings; dropped turns are repeated, faults are not. Used by one thread.
 */
final class EchoMeasurement {
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final EchoConfig config;
    private final HotCpus cpus;
    private final int fork;
    private final Random random;

    /** A contestant in a mode. */
    private record Turn(EchoSubject subject, EchoMode mode) {
    }

    /** A measurement in the JVM of an index. */
    EchoMeasurement(final EchoConfig config, final HotCpus cpus, final int fork) {
        this.config = config;
        this.cpus = cpus;
        this.fork = fork;
        random = new Random(config.seed() + fork);
    }

    EchoReport run() throws IOException {
        final List<EchoWindow> windows = new ArrayList<>();
        for (final EchoScale scale : config.scales()) {
            measure(scale, windows);
        }
        return new EchoReport(config, windows);
    }

    /** The order in which contestants are opened: it determines where their memory and their compiled code is. */
    private List<EchoSubject> order() {
        final List<EchoSubject> order = new ArrayList<>(List.of(EchoSubject.values()));
        Collections.shuffle(order, random);
        return order;
    }

    private void measure(final EchoScale scale, final List<EchoWindow> windows) throws IOException {
        final Map<EchoSubject, EchoContestant> contestants = new EnumMap<>(EchoSubject.class);
        final List<Turn> turns = new ArrayList<>();
        try {
            for (final EchoSubject subject : order()) {
                contestants.put(subject, subject.open(scale, new EchoThreads(cpus, new Gate())));
                for (final EchoMode mode : EchoMode.values()) {
                    turns.add(new Turn(subject, mode));
                }
            }
            new Rounds<>(turns, 1, random).run(config.warmUp(), (round, turn) -> {
                window(round, scale, turn, contestants.get(turn.subject));
                return true;
            });
            new Rounds<>(turns, config.attempts(), random).run(config.rounds(), (round, turn) -> {
                final EchoWindow window = window(fork * config.rounds() + round, scale, turn, contestants.get(turn.subject));
                windows.add(window);
                return window.counts() || !window.fault().isEmpty();
            });
        } finally {
            contestants.values().forEach(EchoContestant::close);
        }
    }

    private EchoWindow window(final int round, final EchoScale scale, final Turn turn, final EchoContestant contestant) {
        System.gc();
        final long fromNs = System.nanoTime() + START_NS + TimeUnit.MILLISECONDS.toNanos(config.leadInMs());
        final long untilNs = fromNs + TimeUnit.MILLISECONDS.toNanos(config.windowMs());
        contestant.start(turn.mode, fromNs, untilNs);
        // Before the end of the lead-in: with as many hot threads as CPUs, one of them would wait while this thread reads.
        Timing.sleepUntil(fromNs - START_NS);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        final AllocationWatch allocations = new AllocationWatch();
        allocations.start();
        watch.start();
        Timing.sleepUntil(fromNs);
        final long firstNs = System.nanoTime();
        final long first = contestant.answers();
        Timing.sleepUntil(untilNs);
        final long lastNs = System.nanoTime();
        final long last = contestant.answers();
        final CpuLoss lost = watch.stop();
        final double allocatedBytes = allocations.stop(contestant.answers() - first);
        final CpuLoss loss = cpus.areExclusive(1) ? lost : lost.stolenOnly();
        String fault = "";
        try {
            contestant.stop();
        } catch (final TimeoutException | RuntimeException failed) {
            fault = failed.toString();
        }
        return new EchoWindow(round, scale, turn.mode, turn.subject, (lastNs - firstNs) / (double) (last - first),
            EchoWindow.percentiles(contestant.roundTripNs()),
            contestant.isJava() ? allocatedBytes : AllocationWatch.UNKNOWN, loss, fault);
    }
}
