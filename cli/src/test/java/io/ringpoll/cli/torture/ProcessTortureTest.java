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
class ProcessTortureTest {
    private final CommandCalls calls = CommandCalls.of(TortureCommand::new);

    @TempDir
    private Path folder;

    @Test
    void shouldFindNothingWrongInAFewSeconds() throws IOException, InterruptedException {
        // Always the same scenes: a run by hand draws others.
        final JsonNode report = TortureProcess.report(folder, "--processes", "--jvm", "PLAIN", "--seconds", "6", "--seed", "4");
        assertTrue(report.get("scenes").asInt() >= 1, report::toString);
        assertTrue(report.get("peers").asInt() >= 1, report::toString);
        assertTrue(report.get("requests").asInt() >= 1, report::toString);
    }

    @Test
    void shouldPlayOneKindOfSceneAtATime() {
        assertEquals(2, calls.execute("--processes", "--lifecycle"));
        assertEquals("ringpoll torture: --lifecycle and --processes are different kinds of scenes: use one", calls.err().strip());
    }
}
