package io.ringpoll.bench.growth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that every contestant handles everything at each kind of point; the figures of a loaded machine are not checked. */
@Timeout(120)
class GrowthMeasurementTest {
    @Test
    void shouldMeasureAllContestantsAtEachKindOfPoint() {
        final GrowthPoint many = new GrowthPoint(GrowthAxis.QUEUES, 65, GrowthMeasure.DELAY);
        final List<GrowthPoint> points = List.of(many,
            new GrowthPoint(GrowthAxis.QUEUES, 3, GrowthMeasure.COST), new GrowthPoint(GrowthAxis.QUEUES, 3, GrowthMeasure.DELAY),
            new GrowthPoint(GrowthAxis.POLLERS, 2, GrowthMeasure.COST),
            new GrowthPoint(GrowthAxis.RING_SIZE, 64, GrowthMeasure.COST),
            new GrowthPoint(GrowthAxis.BATCH, 256, GrowthMeasure.COST));
        final GrowthReport report = new GrowthMeasurement(GrowthConfig.quick().withPoints(points).forAMoment()).run();
        assertEquals(List.of(), report.faults());
        final ObjectNode root = JsonNodeFactory.instance.objectNode();
        report.addTo(root);
        final Map<String, Set<String>> contestants = new TreeMap<>();
        for (final JsonNode window : root.path("growth").path("windows")) {
            contestants.computeIfAbsent(window.path("name").asText(), name -> new TreeSet<>())
                .add(window.path("contestant").asText());
        }
        assertEquals(points.size(), contestants.size(), contestants.toString());
        assertEquals(Set.of("c", "ringpoll", "ringpoll-plain-rounds"), contestants.remove(many.name()));
        assertTrue(contestants.values().stream().allMatch(Set.of("c", "ringpoll")::equals), contestants.toString());
    }
}
