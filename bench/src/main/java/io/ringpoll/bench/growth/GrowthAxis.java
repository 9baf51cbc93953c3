package io.ringpoll.bench.growth;

import io.ringpoll.bench.plot.GrowthPlot.Scale;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** A quantity that is varied while the others keep their usual values. */
public enum GrowthAxis {
    /** Queues in the round of one poller: one is busy, the others are empty. */
    QUEUES("queues in the round of a poller, one of them busy", "queues", Scale.POWERS_OF_TEN),
    /** Pollers, each with its own queue, ring and handler. */
    POLLERS("pollers, each with its queue, ring and handler", "pollers", Scale.LINEAR),
    /** Slots of the ring. */
    RING_SIZE("slots of the ring", "slots", Scale.POWERS_OF_TWO),
    /** Maximum completions per poll. */
    BATCH("completions per poll", "completions", Scale.POWERS_OF_TWO);

    private static final int MAX_POLLERS = 8;
    private static final int SMALLEST_RING = 6;
    private static final int LARGEST_RING = 20;
    private static final int LARGEST_BATCH = 8;

    private final String title;
    private final String unit;
    private final Scale scale;

    GrowthAxis(final String title, final String unit, final Scale scale) {
        this.title = title;
        this.unit = unit;
        this.scale = scale;
    }

    /**
     * Its name in results and files.
     *
     * @return one word
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Its description for tables and plots. */
    String title() {
        return title;
    }

    /** The unit of its points. */
    String unit() {
        return unit;
    }

    /** Its scale in plots. */
    Scale scale() {
        return scale;
    }

    /** The measures that are taken at each of its points. */
    List<GrowthMeasure> measures() {
        return this == QUEUES ? List.of(GrowthMeasure.COST, GrowthMeasure.DELAY) : List.of(GrowthMeasure.COST);
    }

    /**
     * Its points.
     *
     * @param cpus CPUs of this process, which limit the number of pollers
     * @return ascending
     */
    List<Integer> points(final int cpus) {
        return switch (this) {
            case QUEUES -> List.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000);
            case POLLERS -> IntStream.rangeClosed(1, Math.clamp(cpus, 1, MAX_POLLERS)).boxed().toList();
            case RING_SIZE -> IntStream.rangeClosed(SMALLEST_RING, LARGEST_RING).map(bits -> 1 << bits).boxed().toList();
            case BATCH -> IntStream.rangeClosed(0, LARGEST_BATCH).map(bits -> 1 << bits).boxed().toList();
        };
    }

    /** A few of its points: the first, the last and some between them. */
    List<Integer> fewPoints(final int cpus) {
        final List<Integer> all = points(cpus);
        return switch (this) {
            case QUEUES -> List.of(1, 10, 100, 1_000);
            case POLLERS -> all.size() <= 2 ? all : List.of(all.getFirst(), 2, all.getLast()).stream().distinct().toList();
            case RING_SIZE, BATCH -> List.of(all.getFirst(), all.get(all.size() / 2), all.getLast());
        };
    }

    /** The points up to its largest that the CPUs of this process do not allow. */
    List<Integer> omitted(final int cpus) {
        return this == POLLERS ? IntStream.rangeClosed(points(cpus).getLast() + 1, MAX_POLLERS).boxed().toList() : List.of();
    }

    /** The hot threads at a point. */
    int threads(final int point) {
        return this == POLLERS ? 2 * point : 2;
    }

    /** All points with their measures. */
    static List<GrowthPoint> all(final boolean few, final int cpus) {
        final List<GrowthPoint> points = new ArrayList<>();
        for (final GrowthAxis axis : values()) {
            for (final GrowthMeasure measure : axis.measures()) {
                for (final int value : few ? axis.fewPoints(cpus) : axis.points(cpus)) {
                    points.add(new GrowthPoint(axis, value, measure));
                }
            }
        }
        return points;
    }
}
