package io.ringpoll.bench.growth;

import io.ringpoll.bench.measure.Interval;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The settings of a measurement.
 *
 * @param points   points with their measures
 * @param rounds   measured rounds, with one turn of each contestant at each point
 * @param warmUp   warm-up rounds
 * @param leadInMs time before the first reading of a turn
 * @param windowMs time between its two readings
 * @param cpus     CPUs of this process
 * @param seed     seed of the order of the turns in each round
 */
public record GrowthConfig(List<GrowthPoint> points, int rounds, int warmUp, long leadInMs, long windowMs, int cpus, long seed) {
    /** The start and the end of a turn, with a collection of garbage. */
    private static final long TURN_MS = 40;
    private static final long SEED = 1;

    /** Copies the points. */
    public GrowthConfig {
        points = List.copyOf(points);
    }

    /**
     * All points, in about four minutes.
     *
     * @return the settings for this machine
     */
    public static GrowthConfig usual() {
        final int cpus = Runtime.getRuntime().availableProcessors();
        return new GrowthConfig(GrowthAxis.all(false, cpus), 8, 1, 60, 160, cpus, SEED);
    }

    /**
     * A few points, in less than 40 seconds.
     *
     * @return the settings for this machine
     */
    public static GrowthConfig quick() {
        final int cpus = Runtime.getRuntime().availableProcessors();
        return new GrowthConfig(GrowthAxis.all(true, cpus), Interval.FEWEST_RUNS, 1, 30, 50, cpus, SEED);
    }

    /**
     * One short turn of each contestant at a few points: checks that everything works, without meaningful figures.
     *
     * @return the settings for this machine
     */
    public static GrowthConfig glance() {
        return quick().forAMoment();
    }

    /** The same with other points. */
    GrowthConfig withPoints(final List<GrowthPoint> others) {
        return new GrowthConfig(others, rounds, warmUp, leadInMs, windowMs, cpus, seed);
    }

    /** The same with one short turn of each contestant. */
    GrowthConfig forAMoment() {
        return new GrowthConfig(points, 1, 0, 5, 10, cpus, seed);
    }

    /**
     * Its time on an idle machine.
     *
     * @return nanoseconds
     */
    public long expectedNs() {
        final long turns = points.stream().mapToLong(GrowthPoint::turns).sum();
        return TimeUnit.MILLISECONDS.toNanos(turns * (rounds + warmUp) * (leadInMs + windowMs + TURN_MS));
    }

    /** Whether the hot threads of a point are more than the CPUs. */
    boolean isCrowded(final GrowthPoint point) {
        return point.axis().threads(point.value()) > cpus;
    }
}
