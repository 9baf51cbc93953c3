package io.ringpoll.bench.growth;

import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.RingpollHandOff;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Measures ringpoll and plain C at all points, and with many queues ringpoll with plain rounds, too. The order of the turns of a
 * round is random, by the seed of the settings, so that neither changes of the machine nor a predecessor favour a contestant or a
 * point; the turns of a point follow each other, in random order. Used by one thread.
 */
public final class GrowthMeasurement {
    private final GrowthConfig config;
    private final Random random;

    /**
     * Creates a measurement.
     *
     * @param config its settings
     */
    public GrowthMeasurement(final GrowthConfig config) {
        this.config = config;
        this.random = new Random(config.seed());
    }

    /**
     * Measures.
     *
     * @return the report
     */
    public GrowthReport run() {
        final List<GrowthWindow> windows = new ArrayList<>();
        final List<GrowthPoint> order = new ArrayList<>(config.points());
        final List<HandOff> two = List.of(new RingpollHandOff(), CHandOff.withThreads());
        final List<HandOff> three = List.of(two.getFirst(), two.getLast(), RingpollHandOff.withPlainRounds());
        final GrowthMeter meter = new GrowthMeter(config);
        for (int round = -config.warmUp(); round < config.rounds(); round++) {
            Collections.shuffle(order, random);
            for (final GrowthPoint point : order) {
                final List<HandOff> handOffs = new ArrayList<>(point.hasPlainRounds() ? three : two);
                Collections.shuffle(handOffs, random);
                for (final HandOff handOff : handOffs) {
                    final GrowthWindow window = meter.turn(round, point, handOff);
                    if (round >= 0) {
                        windows.add(window);
                    }
                }
            }
        }
        return new GrowthReport(config, windows);
    }
}
