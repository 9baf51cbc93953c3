package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.cli.options.Execution;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

@Timeout(400)
class LifecycleTortureTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldFindNothingWrongInAMinute() throws IOException {
        assertEquals(0, execute("--lifecycle", "--seconds", "60", "--json"), () -> out + "\n" + err);
        final JsonNode report = new ObjectMapper().readTree(out.toString());
        assertTrue(report.get("sound").asBoolean(), out::toString);
        assertTrue(report.get("playedSeconds").asDouble() >= 60, out::toString);
        assertTrue(report.get("scenes").asInt() >= 1, out::toString);
        assertTrue(report.get("calls").asInt() >= 1, out::toString);
    }

    @Test
    void shouldRefuseAKindOfJvmWithoutTheLifeCycle() {
        assertEquals(2, execute("--jvm", "PLAIN"));
        assertEquals("ringpoll torture: --jvm goes with --lifecycle", err.toString().strip());
    }

    private int execute(final String... arguments) {
        final CommandLine line = Execution.commandLine(new TortureCommand());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }
}
