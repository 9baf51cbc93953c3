package io.ringpoll.cli.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.cli.options.CommandCalls;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(10)
class IdleCommandTest {
    private final CommandCalls calls = CommandCalls.of(IdleCommand::new);

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--seconds=0 | --seconds 0 is not from 1 to 86400",
        "--often | Unknown option: '--often'; see './ringpoll idle --help'"
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String argument, final String message) {
        assertEquals(2, calls.execute(argument));
        assertEquals("ringpoll idle: " + message, calls.err().strip());
    }
}
