package io.ringpoll.bench.echo;

import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.Rounds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Measures an echo of the layer of connections and its baselines, many times for each number of connections: each contestant in a
 * new JVM of its own. The JVMs of a fork run at the same time and take turns; in a turn, all others sleep.
 *
 * <p>The layout of memory and the decisions of the JIT compiler differ between JVMs, so turns of the same JVM are not independent
 * of each other, but JVMs are. Contestants in one JVM would share the profiles of the pipeline's code, by which it is compiled.
 *
 * <p>The order in which contestants are opened and that of the turns of a round are random, by the seed of the settings; dropped
 * turns are repeated, faults are not. Used by one thread.
 */
final class EchoMeasurement {
    private final EchoConfig config;
    private final Random random;
    private final List<EchoWindow> windows = new ArrayList<>();

    /** A contestant in a mode. */
    private record Turn(EchoSubject subject, EchoMode mode) {
    }

    EchoMeasurement(final EchoConfig config) {
        this.config = config;
        random = new Random(config.seed());
    }

    /**
     * Measures. At any end of this process, the JVMs are killed.
     *
     * @throws IllegalStateException if a JVM fails
     */
    EchoReport run() throws IOException, InterruptedException {
        for (int fork = 0; fork < config.forks(); fork++) {
            for (final EchoScale scale : config.scales()) {
                measure(fork, scale);
            }
        }
        return new EchoReport(config, windows);
    }

    private void measure(final int fork, final EchoScale scale) throws IOException, InterruptedException {
        final List<EchoSubject> subjects = new ArrayList<>(EchoSubject.ofFork(fork));
        Collections.shuffle(subjects, random);
        final Map<EchoSubject, EchoProcess> processes = new EnumMap<>(EchoSubject.class);
        try (ChildProcesses children = new ChildProcesses(() -> { })) {
            for (final EchoSubject subject : subjects) {
                processes.put(subject, EchoProcess.start(config, scale, subject, children));
            }
            // One after the other: their hot threads spin meanwhile.
            for (final EchoSubject subject : subjects) {
                processes.get(subject).open();
            }
            takeTurns(fork, subjects, processes);
            processes.values().forEach(EchoProcess::end);
            processes.values().forEach(EchoProcess::close);
        }
    }

    private void takeTurns(final int fork, final List<EchoSubject> subjects, final Map<EchoSubject, EchoProcess> processes)
        throws InterruptedException {
        final List<Turn> turns = subjects.stream().flatMap(
            subject -> List.of(EchoMode.values()).stream().map(mode -> new Turn(subject, mode))).toList();
        new Rounds<>(turns, 1, random).run(config.warmUp(), (round, turn) -> {
            processes.get(turn.subject).take(round, turn.mode);
            return true;
        });
        new Rounds<>(turns, config.attempts(), random).run(config.rounds(), (round, turn) -> {
            final EchoWindow window = processes.get(turn.subject).take(fork * config.rounds() + round, turn.mode);
            windows.add(window);
            return window.counts() || !window.fault().isEmpty();
        });
    }
}
