package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.options.CommandCalls;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(400)
class ConnectionTortureTest {
    private final CommandCalls calls = CommandCalls.of(TortureCommand::new);

    @Test
    void shouldFindNothingWrongInAFewSeconds() throws IOException {
        // Always the same scenes: a run by hand draws others.
        assertEquals(0, calls.execute("--connections", "--jvm", "PLAIN", "--seconds", "7", "--seed", "1", "--json"),
            calls::toString);
        final JsonNode report = calls.json();
        assertTrue(report.get("sound").asBoolean(), calls::out);
        assertTrue(report.get("scenes").asInt() >= 1, calls::out);
        assertTrue(report.get("connections").asInt() >= 1, calls::out);
        assertTrue(report.get("messages").asInt() >= 1, calls::out);
    }

    @Test
    void shouldPlayOneKindOfSceneAtATime() {
        assertEquals(2, calls.execute("--connections", "--lifecycle"));
        assertEquals(
            "ringpoll torture: --lifecycle and --connections are different kinds of scenes: use one", calls.err().strip());
    }
}
