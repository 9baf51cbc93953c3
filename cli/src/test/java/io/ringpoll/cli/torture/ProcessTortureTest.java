package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.options.CommandCalls;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(400)
class ProcessTortureTest {
    private final CommandCalls calls = CommandCalls.of(TortureCommand::new);

    @Test
    void shouldFindNothingWrongInAFewSeconds() throws IOException {
        // Always the same scenes: a run by hand draws others.
        assertEquals(0, calls.execute("--processes", "--jvm", "PLAIN", "--seconds", "6", "--seed", "4", "--json"),
            calls::toString);
        final JsonNode report = calls.json();
        assertTrue(report.get("sound").asBoolean(), calls::out);
        assertTrue(report.get("scenes").asInt() >= 1, calls::out);
        assertTrue(report.get("peers").asInt() >= 1, calls::out);
        assertTrue(report.get("requests").asInt() >= 1, calls::out);
    }

    @Test
    void shouldPlayOneKindOfSceneAtATime() {
        assertEquals(2, calls.execute("--processes", "--lifecycle"));
        assertEquals("ringpoll torture: --lifecycle and --processes are different kinds of scenes: use one", calls.err().strip());
    }
}
