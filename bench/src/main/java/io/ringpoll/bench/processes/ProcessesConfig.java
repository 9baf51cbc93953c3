package io.ringpoll.bench.processes;

import io.ringpoll.bench.measure.Interval;
import java.util.concurrent.TimeUnit;

/**
 * The settings of a measurement.
 *
 * @param rounds   measured rounds, with a turn of each contestant
 * @param warmUp   warm-up rounds
 * @param attempts most turns for each planned one, on average: dropped turns are repeated within this limit
 * @param leadInMs time before the recording time of a turn
 * @param windowMs recording time of a turn
 * @param seed     seed of the order of the turns in each round
 */
public record ProcessesConfig(int rounds, int warmUp, int attempts, long leadInMs, long windowMs, long seed) {
    /** Start and end of a turn. */
    private static final long TURN_MS = 30;
    /** Three JVMs and the connections. */
    private static final long OPEN_MS = 4_000;
    private static final long SEED = 1;
    private static final int ATTEMPTS = 3;

    /**
     * The settings of a name: how the suite passes them to the tool's JVM.
     *
     * @param name {@code glance}, {@code quick}, {@code usual} or {@code full}
     * @return the settings
     */
    public static ProcessesConfig named(final String name) {
        return switch (name) {
            case "glance" -> new ProcessesConfig(1, 0, 1, 10, 20, SEED);
            case "quick" -> new ProcessesConfig(Interval.FEWEST_RUNS, 3, 1, 60, 120, SEED);
            case "usual" -> new ProcessesConfig(Interval.FEWEST_RUNS, 3, ATTEMPTS, 60, 120, SEED);
            case "full" -> new ProcessesConfig(30, 5, ATTEMPTS, 100, 200, SEED);
            default -> throw new IllegalArgumentException(name + " is not glance, quick, usual or full");
        };
    }

    /** Number of turns, without repetitions and warm-up. */
    int plannedTurns() {
        return rounds * ProcessesSubject.values().length;
    }

    /**
     * Its time on an idle machine, with its JVMs.
     *
     * @return nanoseconds
     */
    public long expectedNs() {
        return TimeUnit.MILLISECONDS.toNanos(
            OPEN_MS + (rounds + warmUp) * ProcessesSubject.values().length * (leadInMs + windowMs + TURN_MS));
    }
}
