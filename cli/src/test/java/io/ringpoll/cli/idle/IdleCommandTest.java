package io.ringpoll.cli.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.cli.options.Execution;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(10)
class IdleCommandTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--seconds=0 | --seconds 0 is not from 1 to 86400",
        "--often | Unknown option: '--often'; see './ringpoll idle --help'"
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String argument, final String message) {
        final StringWriter said = new StringWriter();
        final CommandLine line = Execution.commandLine(new IdleCommand());
        line.setErr(new PrintWriter(said, true));
        assertEquals(2, line.execute(argument));
        assertEquals("ringpoll idle: " + message, said.toString().strip());
    }
}
