package io.ringpoll.bench.echo;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The settings of a measurement.
 *
 * @param scales   numbers of connections
 * @param forks    how often the JVMs of each number of connections are started: the independent runs of a figure
 * @param rounds   measured rounds of a fork, with a turn of each contestant in each mode
 * @param warmUp   warm-up rounds of a fork
 * @param attempts most turns for each planned one, on average: dropped turns are repeated within this limit
 * @param leadInMs time before the first reading of a turn
 * @param windowMs time between its two readings
 * @param seed     seed of the order in which contestants are opened, and of their turns in each round
 */
public record EchoConfig(List<EchoScale> scales, int forks, int rounds, int warmUp, int attempts, long leadInMs, long windowMs,
                         long seed) {
    /** All numbers of connections that are measured. */
    static final List<EchoScale> SCALES =
        List.of(new EchoScale(1, 64, 32), new EchoScale(20, 32, 16), new EchoScale(1_000, 8, 4));

    /** The start and the end of a turn, with a collection of garbage. */
    private static final long TURN_MS = 45;
    /** Starts and ends the JVMs of a fork, and opens and closes all connections. */
    private static final long FORK_MS = 2_500;
    private static final long JVM_MS = 1_500;
    private static final long SEED = 1;
    private static final int ATTEMPTS = 3;
    private static final int ROUNDS = 4;
    /** For an interval of a few hundredths where JVMs differ by several. */
    private static final int FORKS = 20;

    /**
     * The settings of a name: how the suite passes them to the tool's JVM.
     *
     * @param name {@code glance}, {@code quick}, {@code usual} or {@code full}
     * @return the settings
     */
    public static EchoConfig named(final String name) {
        return switch (name) {
            case "glance" -> glance();
            case "quick" -> new EchoConfig(SCALES, 1, ROUNDS, 2, 1, 15, 40, SEED);
            case "usual" -> new EchoConfig(SCALES, FORKS, ROUNDS, 2, ATTEMPTS, 15, 40, SEED);
            case "full" -> new EchoConfig(SCALES, FORKS / 2, ROUNDS, 2, ATTEMPTS, 25, 80, SEED);
            default -> throw new IllegalArgumentException(name + " is not glance, quick, usual or full");
        };
    }

    /** One short turn of each contestant with few connections: checks that everything works, without meaningful figures. */
    static EchoConfig glance() {
        return new EchoConfig(List.of(SCALES.getFirst(), new EchoScale(3, 4, 2)), 1, 1, 0, 1, 5, 10, SEED);
    }

    /**
     * The numbers of connections that are measured.
     *
     * @return in ascending order
     */
    public static List<Integer> connections() {
        return SCALES.stream().map(EchoScale::connections).toList();
    }

    /**
     * Reads the settings as the suite passes them.
     *
     * @param arguments a name for {@link #named}; numbers of connections may follow in one word, separated by commas
     * @return the settings
     */
    public static EchoConfig of(final List<String> arguments) {
        final EchoConfig all = named(arguments.getFirst());
        if (arguments.size() == 1) {
            return all;
        }
        final List<String> chosen = List.of(arguments.get(1).split(","));
        return new EchoConfig(
            all.scales.stream().filter(scale -> chosen.contains(Integer.toString(scale.connections()))).toList(), all.forks,
            all.rounds, all.warmUp, all.attempts, all.leadInMs, all.windowMs, all.seed);
    }

    /** Number of turns, without repetitions and warm-up. */
    int plannedTurns() {
        return turnsOfARound() * rounds;
    }

    /** The turns of a round, in all forks and with all numbers of connections. */
    private int turnsOfARound() {
        final int contestants = IntStream.range(0, forks).map(fork -> EchoSubject.ofFork(fork).size()).sum();
        return contestants * scales.size() * EchoMode.values().length;
    }

    /**
     * Its time on an idle machine, with its JVMs.
     *
     * @return nanoseconds
     */
    public long expectedNs() {
        final long turns = (long) turnsOfARound() * (rounds + warmUp);
        return TimeUnit.MILLISECONDS.toNanos(
            JVM_MS + forks * scales.size() * FORK_MS + turns * (leadInMs + windowMs + TURN_MS));
    }
}
