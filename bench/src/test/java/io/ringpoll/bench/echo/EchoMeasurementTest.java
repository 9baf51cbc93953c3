package io.ringpoll.bench.echo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.bench.measure.TurnCount;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that every contestant answers every message; the figures of a loaded machine are not checked. */
@Timeout(300)
class EchoMeasurementTest {
    private static final EchoScale SMALL = new EchoScale(3, 8, 4);

    @Test
    void shouldMeasureAllContestantsInBothModesAndLeaveNoJvmBehind() throws Exception {
        final Set<ProcessHandle> before = children();
        final EchoReport report = new EchoMeasurement(new EchoConfig(List.of(SMALL), 1, 2, 0, 1, 5, 10, 1)).run();
        assertEquals(List.of(), report.faults());
        final Set<String> turns = new HashSet<>();
        for (final JsonNode window : new ObjectMapper().readTree(report.toJson()).path("windows")) {
            turns.add(window.path("round").asInt() + " " + window.path("connections").asInt() + " "
                + window.path("mode").asText() + " " + window.path("contestant").asText());
        }
        final Set<String> expected = new HashSet<>();
        for (final String mode : List.of("throughput", "ping-pong")) {
            for (final String contestant : List.of("ringpoll", "ringpoll,verbs", "by-hand", "c", "netty", "aeron-ipc")) {
                expected.add("0 3 " + mode + " " + contestant);
                expected.add("1 3 " + mode + " " + contestant);
            }
        }
        assertEquals(expected, turns);
        final Set<ProcessHandle> left = children();
        left.removeAll(before);
        assertEquals(Set.of(), left);
    }

    private static Set<ProcessHandle> children() {
        return ProcessHandle.current().children().filter(ProcessHandle::isAlive).collect(Collectors.toSet());
    }

    @Test
    void shouldHaveEnoughForksForAnInterval() {
        for (final String name : List.of("usual", "full")) {
            final EchoConfig config = EchoConfig.named(name);
            assertTrue(config.forks() >= Interval.FEWEST_RUNS, name);
            assertEquals(EnumSet.allOf(EchoSubject.class), EchoSubject.ofFork(Interval.FEWEST_RUNS - 1));
            for (final Goal goal : Goals.all()) {
                assertTrue(!goal.result().startsWith("echo/") || goal.baseline().equals(BenchResult.NOTHING)
                    || EchoSubject.ofFork(config.forks()).stream().anyMatch(each -> each.label().equals(goal.baseline())),
                    goal.toString());
            }
        }
        assertEquals((6 * 6 + 14 * 4) * 2 * 3 * 4, EchoConfig.named("usual").plannedTurns());
        // Two numbers of connections, six contestants, two modes.
        assertEquals(2 * 6 * 2, EchoConfig.named("glance").plannedTurns());
    }

    @Test
    void shouldRepeatDroppedTurnsWithinItsLimit() throws Exception {
        // A turn of no length records no round trip.
        final TurnCount turns = new EchoMeasurement(new EchoConfig(List.of(SMALL), 1, 1, 0, 3, 5, 0, 1)).run().turns();
        assertEquals(12, turns.planned());
        assertEquals(36, turns.taken());
    }

    @Test
    void shouldReportAJvmThatHasEnded() throws Exception {
        final EchoConfig config = new EchoConfig(List.of(SMALL), 1, 1, 0, 1, 5, 10, 1);
        try (ChildProcesses children = new ChildProcesses(() -> { });
            EchoProcess process = EchoProcess.start(config, SMALL, EchoSubject.C, children)) {
            process.open();
            process.kill();
            assertEquals("the JVM of c with 3 connections has ended with exit code 137",
                assertThrows(IllegalStateException.class, () -> process.take(0, EchoMode.THROUGHPUT)).getMessage());
        }
    }

    @Test
    void shouldReportAContestantThatCannotBeOpened() throws Exception {
        final EchoScale none = new EchoScale(1, 0, 0);
        try (ChildProcesses children = new ChildProcesses(() -> { });
            EchoProcess process = EchoProcess.start(
                new EchoConfig(List.of(none), 1, 1, 0, 1, 5, 10, 1), none, EchoSubject.LAYER, children)) {
            final String message = assertThrows(IllegalStateException.class, process::open).getMessage();
            assertTrue(message.startsWith(
                "the JVM of ringpoll with 1 connections failed java.lang.IllegalArgumentException"), message);
        }
    }
}
