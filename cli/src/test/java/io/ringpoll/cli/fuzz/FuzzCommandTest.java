package io.ringpoll.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.cli.options.Execution;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(120)
class FuzzCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldFindEveryInputTakenOrRefusedInOneLine() {
        assumeTrue(TestDevice.isLoopback(), "targets that post invalid requests need the loopback device");
        assertEquals(0, execute("--seconds", "6", "--seed", "1"), () -> out + "\n" + err);
        assertTrue(out.toString().contains("targets from seed 1"), out.toString());
    }

    @ParameterizedTest
    @CsvSource({"mix, 18", "fault-plan, 94", "address, 18", "private-data, 26", "stat-options, 68"})
    void shouldPassInputsOfFormerFindings(final String target, final String seed) {
        assumeTrue(TestDevice.isLoopback(), "targets that post invalid requests need the loopback device");
        assertEquals(0, execute("--target", target, "--seed", seed, "--inputs", "1"), () -> out + "\n" + err);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--seconds=0 | --seconds 0.0 is not from above 0 to a year",
        "--inputs=-1 | --inputs -1 is not 1 or more",
        "--inputs=0 | --inputs 0 is not 1 or more",
        "--wildly | Unknown option: '--wildly'; see './ringpoll fuzz --help'",
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String argument, final String message) {
        assertEquals(2, execute(argument));
        assertEquals("ringpoll fuzz: " + message, err.toString().strip());
    }

    private int execute(final String... arguments) {
        final CommandLine line = Execution.commandLine(new FuzzCommand());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }
}
