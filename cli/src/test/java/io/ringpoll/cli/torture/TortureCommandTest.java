package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(300)
class TortureCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldFindEachWorkRequestEndedAsTheModelHasIt() throws IOException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes fault plans");
        assertEquals(0, execute("--seconds", "6", "--seed", "1", "--json"), () -> out + "\n" + err);
        final JsonNode report = new ObjectMapper().readTree(out.toString());
        assertTrue(report.get("sound").asBoolean());
        assertTrue(report.get("scenes").asInt() >= 1, out::toString);
        assertTrue(report.get("workRequests").asLong() >= 100, out::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--seconds=0 | --seconds 0.0 is not from above 0 to a year",
        "--seconds=NaN | --seconds NaN is not from above 0 to a year",
        "--scenes=-1 | --scenes -1 is not 1 or more",
        "--scenes=0 | --scenes 0 is not 1 or more",
        "--seed=x | Invalid value for option '--seed': 'x' is not a long; see './ringpoll torture --help'",
        "--gently | Unknown option: '--gently'; see './ringpoll torture --help'",
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String argument, final String message) {
        assertEquals(2, execute(argument));
        assertEquals("ringpoll torture: " + message, err.toString().strip());
        assertEquals("", out.toString());
    }

    private int execute(final String... arguments) {
        final CommandLine line = Execution.commandLine(new TortureCommand());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }
}
