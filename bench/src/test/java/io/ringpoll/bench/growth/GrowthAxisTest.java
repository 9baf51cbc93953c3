package io.ringpoll.bench.growth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GrowthAxisTest {
    @Test
    void shouldVaryQueuesRingAndBatchOverTheirWholeRange() {
        assertEquals(List.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000), GrowthAxis.QUEUES.points(1));
        assertEquals(64, GrowthAxis.RING_SIZE.points(1).getFirst());
        assertEquals(1_048_576, GrowthAxis.RING_SIZE.points(1).getLast());
        assertEquals(15, GrowthAxis.RING_SIZE.points(1).size());
        assertEquals(List.of(1, 2, 4, 8, 16, 32, 64, 128, 256), GrowthAxis.BATCH.points(1));
    }

    @Test
    void shouldLimitPollersByCpusAndListTheOmittedOnes() {
        assertEquals(List.of(1), GrowthAxis.POLLERS.points(1));
        assertEquals(List.of(1, 2), GrowthAxis.POLLERS.points(2));
        assertEquals(List.of(3, 4, 5, 6, 7, 8), GrowthAxis.POLLERS.omitted(2));
        assertEquals(List.of(1, 2, 3, 4, 5, 6, 7, 8), GrowthAxis.POLLERS.points(64));
        assertEquals(List.of(), GrowthAxis.POLLERS.omitted(64));
        assertEquals(List.of(), GrowthAxis.QUEUES.omitted(1));
    }

    @Test
    void shouldSelectFewPointsFromAllWithBothEnds() {
        for (final int cpus : new int[] {1, 2, 3, 16}) {
            for (final GrowthAxis axis : GrowthAxis.values()) {
                final List<Integer> all = axis.points(cpus);
                final List<Integer> few = axis.fewPoints(cpus);
                assertTrue(all.containsAll(few) && few.size() <= 4, axis + " " + few);
                assertEquals(all.getFirst(), few.getFirst());
                assertEquals(all.getLast(), few.getLast());
                assertEquals(few.size(), new HashSet<>(few).size());
            }
        }
    }

    @Test
    void shouldMarkAPointWithMoreHotThreadsThanCpus() {
        final GrowthConfig config = new GrowthConfig(List.of(), 1, 0, 1, 1, 3, 1);
        assertFalse(config.isCrowded(new GrowthPoint(GrowthAxis.POLLERS, 1, GrowthMeasure.COST)));
        assertTrue(config.isCrowded(new GrowthPoint(GrowthAxis.POLLERS, 2, GrowthMeasure.COST)));
        assertFalse(config.isCrowded(new GrowthPoint(GrowthAxis.QUEUES, 1_000, GrowthMeasure.COST)));
    }

    @Test
    void shouldVaryOneQuantityAtATime() {
        final GrowthPoint queues = new GrowthPoint(GrowthAxis.QUEUES, 100, GrowthMeasure.DELAY);
        assertEquals("growth/queues/100/delay-p50", queues.name());
        assertEquals(List.of(99, 1, 8_192, 32),
            List.of(queues.emptyQueues(), queues.pollers(), queues.ringSize(), queues.batch()));
        final GrowthPoint ring = new GrowthPoint(GrowthAxis.RING_SIZE, 64, GrowthMeasure.COST);
        assertEquals("growth/ring-size/64", ring.name());
        assertEquals(List.of(0, 1, 64, 32), List.of(ring.emptyQueues(), ring.pollers(), ring.ringSize(), ring.batch()));
    }

    @Test
    void shouldPlanFourMinutesAndLessThanFortySecondsForTheQuickRun() {
        final List<GrowthPoint> all = GrowthAxis.all(false, 8);
        assertTrue(GrowthConfig.usual().withPoints(all).expectedNs() < TimeUnit.MINUTES.toNanos(5));
        assertTrue(GrowthConfig.quick().withPoints(GrowthAxis.all(true, 8)).expectedNs() < TimeUnit.SECONDS.toNanos(40));
    }
}
