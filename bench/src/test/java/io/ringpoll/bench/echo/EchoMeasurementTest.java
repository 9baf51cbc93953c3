package io.ringpoll.bench.echo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.bench.measure.TurnCount;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that every contestant answers every message; the figures of a loaded machine are not checked. */
@Timeout(120)
class EchoMeasurementTest {
    @Test
    void shouldMeasureAllContestantsInBothModes() throws Exception {
        final EchoConfig config = new EchoConfig(List.of(new EchoScale(3, 8, 4)), 1, 2, 0, 1, 5, 10, 1);
        final EchoReport report = new EchoMeasurement(config, HotCpus.planned(1), 0).run();
        assertEquals(List.of(), report.faults());
        final Set<String> turns = new HashSet<>();
        for (final JsonNode window : new ObjectMapper().readTree(report.toJson()).path("windows")) {
            turns.add(window.path("connections").asInt() + " " + window.path("mode").asText() + " "
                + window.path("contestant").asText());
        }
        final Set<String> expected = new HashSet<>();
        for (final String mode : List.of("throughput", "ping-pong")) {
            for (final String contestant : List.of("ringpoll", "by-hand", "c", "netty", "aeron-ipc")) {
                expected.add("3 " + mode + " " + contestant);
            }
        }
        assertEquals(expected, turns);
    }

    @Test
    void shouldCountTheRoundsOfAllJvms() throws Exception {
        final EchoConfig config = new EchoConfig(List.of(new EchoScale(1, 8, 4)), 3, 2, 0, 1, 5, 10, 1);
        final EchoReport report = new EchoMeasurement(config, HotCpus.planned(1), 2).run();
        final Set<Integer> rounds = new HashSet<>();
        new ObjectMapper().readTree(report.toJson()).path("windows").forEach(node -> rounds.add(node.path("round").asInt()));
        assertEquals(Set.of(4, 5), rounds);
        assertEquals(60, report.turns().planned());
    }

    @Test
    void shouldHaveEnoughRoundsForAnIntervalInSeveralJvms() {
        for (final String name : List.of("usual", "full")) {
            final EchoConfig config = EchoConfig.named(name);
            assertTrue(config.forks() > 1, name);
            assertTrue(config.forks() * config.rounds() >= Interval.FEWEST_RUNS, name);
        }
    }

    @Test
    void shouldRepeatDroppedTurnsWithinItsLimit() throws Exception {
        // A turn of no length records no round trip.
        final EchoConfig config = new EchoConfig(List.of(new EchoScale(1, 8, 4)), 1, 1, 0, 3, 5, 0, 1);
        final TurnCount turns = new EchoMeasurement(config, HotCpus.planned(1), 0).run().turns();
        assertEquals(10, turns.planned());
        assertEquals(30, turns.taken());
    }
}
