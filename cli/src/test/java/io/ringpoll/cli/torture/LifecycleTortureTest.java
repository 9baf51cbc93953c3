package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.options.CommandCalls;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(400)
class LifecycleTortureTest {
    private final CommandCalls calls = CommandCalls.of(TortureCommand::new);

    @TempDir
    private Path folder;

    /** Each kind of JVM for some seconds; {@code ./ringpoll torture --lifecycle --seconds 600} is a full run. */
    @Test
    void shouldFindNothingWrongInSomeSeconds() throws IOException, InterruptedException {
        // Always from the same scene on: a run by hand draws others.
        final JsonNode report = TortureProcess.report(folder, "--lifecycle", "--seconds", "16", "--seed", "1");
        assertTrue(report.get("playedSeconds").asDouble() >= 16, report::toString);
        assertTrue(report.get("scenes").asInt() >= 1, report::toString);
        assertTrue(report.get("calls").asInt() >= 1, report::toString);
    }

    @Test
    void shouldRefuseAKindOfJvmWithoutTheLifeCycle() {
        assertEquals(2, calls.execute("--jvm", "PLAIN"));
        assertEquals("ringpoll torture: --jvm goes with --lifecycle, --connections or --processes", calls.err().strip());
    }
}
