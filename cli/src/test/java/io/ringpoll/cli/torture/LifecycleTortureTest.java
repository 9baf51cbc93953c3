package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.options.CommandCalls;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(400)
class LifecycleTortureTest {
    private final CommandCalls calls = CommandCalls.of(TortureCommand::new);

    /** Each kind of JVM for some seconds; {@code ./ringpoll torture --lifecycle --seconds 600} is a full run. */
    @Test
    void shouldFindNothingWrongInSomeSeconds() throws IOException {
        // Always from the same scene on: a run by hand draws others.
        assertEquals(0, calls.execute("--lifecycle", "--seconds", "16", "--seed", "1", "--json"), calls::toString);
        final JsonNode report = calls.json();
        assertTrue(report.get("sound").asBoolean(), calls::out);
        assertTrue(report.get("playedSeconds").asDouble() >= 16, calls::out);
        assertTrue(report.get("scenes").asInt() >= 1, calls::out);
        assertTrue(report.get("calls").asInt() >= 1, calls::out);
    }

    @Test
    void shouldRefuseAKindOfJvmWithoutTheLifeCycle() {
        assertEquals(2, calls.execute("--jvm", "PLAIN"));
        assertEquals("ringpoll torture: --jvm goes with --lifecycle, --connections or --processes", calls.err().strip());
    }
}
