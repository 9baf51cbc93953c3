package io.ringpoll.bench.growth;

import java.util.Locale;

/**
 * A point of an axis with a measure.
 *
 * @param axis    the axis
 * @param value   its value, for instance the number of queues
 * @param measure the measured quantity
 */
record GrowthPoint(GrowthAxis axis, int value, GrowthMeasure measure) {
    /** The start of the names of all results. */
    static final String PREFIX = "growth/";

    /** The largest round without second polls, in which the two forms of ringpoll are the same. */
    private static final int LARGEST_PLAIN_ROUND = 64;
    private static final int USUAL_RING = 8_192;
    private static final int USUAL_BATCH = 32;

    /** The name of its result. */
    String name() {
        return PREFIX + axis.label() + "/" + value + measure.suffix();
    }

    int pollers() {
        return axis == GrowthAxis.POLLERS ? value : 1;
    }

    /** The queues without the busy one. */
    int emptyQueues() {
        return axis == GrowthAxis.QUEUES ? value - 1 : 0;
    }

    /** Whether the form of ringpoll with plain rounds takes part. */
    boolean hasPlainRounds() {
        return axis == GrowthAxis.QUEUES && value > LARGEST_PLAIN_ROUND;
    }

    /** The number of turns in a round of the measurement: ringpoll, C, and ringpoll with plain rounds. */
    int turns() {
        return hasPlainRounds() ? 3 : 2;
    }

    int ringSize() {
        return axis == GrowthAxis.RING_SIZE ? value : USUAL_RING;
    }

    int batch() {
        return axis == GrowthAxis.BATCH ? value : USUAL_BATCH;
    }

    /** The value in tables. */
    String valueText() {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
