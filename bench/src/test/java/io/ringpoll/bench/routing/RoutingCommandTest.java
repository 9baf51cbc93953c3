package io.ringpoll.bench.routing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.bench.options.Execution;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(10)
class RoutingCommandTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--rate=0 | --rate 0 is not from 1 to 1000000000",
        "--rounds=x | Invalid value for option '--rounds': 'x' is not an int"
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String argument, final String message) {
        final StringWriter said = new StringWriter();
        final CommandLine line = Execution.commandLine(new RoutingCommand());
        line.setErr(new PrintWriter(said, true));
        assertEquals(2, line.execute(argument));
        assertEquals("ringpoll routing: " + message, said.toString().strip());
    }
}
