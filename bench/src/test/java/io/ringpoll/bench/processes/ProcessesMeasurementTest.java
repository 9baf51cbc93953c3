package io.ringpoll.bench.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.TurnCount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks that every contestant takes its turns in two processes; the figures of a loaded machine are not checked. */
@Timeout(300)
class ProcessesMeasurementTest {
    private static final Map<String, Integer> TWO_OF_EACH = Map.of("c", 2, "ringpoll", 2, "shared-memory", 2, "aeron-ipc", 2,
        "tcp", 2, "writes", 2, "memcpy", 2);

    @Test
    void shouldMeasureAllContestantsAndLeaveNoProcessBehind() throws Exception {
        final Set<ProcessHandle> before = children();
        assertEquals(TWO_OF_EACH, turns(HotCpus.planned(1)));
        final Set<ProcessHandle> left = children();
        left.removeAll(before);
        assertEquals(Set.of(), left);
    }

    private static Set<ProcessHandle> children() {
        return ProcessHandle.current().children().filter(ProcessHandle::isAlive).collect(Collectors.toSet());
    }

    @Test
    void shouldMeasureTwoProcessesThatShareTheirCpus() throws Exception {
        assertEquals(TWO_OF_EACH, turns(HotCpus.unpinned()));
    }

    private static Map<String, Integer> turns(final HotCpus cpus) throws Exception {
        final ProcessesReport report = new ProcessesMeasurement(new ProcessesConfig(2, 0, 1, 5, 10, 1), cpus).run();
        final Map<String, Integer> turns = new TreeMap<>();
        for (final JsonNode window : new ObjectMapper().readTree(report.toJson()).path("windows")) {
            turns.merge(window.path("contestant").asText(), 1, Integer::sum);
        }
        return turns;
    }

    @Test
    void shouldRepeatDroppedTurnsWithinItsLimit() throws Exception {
        // A turn of no length records no round trip.
        final TurnCount turns = new ProcessesMeasurement(new ProcessesConfig(1, 0, 3, 5, 0, 1), HotCpus.planned(1)).run().turns();
        assertEquals(7, turns.planned());
        assertEquals(21, turns.taken());
    }

    @Test
    void shouldGiveTheTwoProcessesAFolderThatOthersCannotAccess() throws Exception {
        final Path folder = ProcessesMeasurement.newFolder();
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
        Files.delete(folder);
    }
}
