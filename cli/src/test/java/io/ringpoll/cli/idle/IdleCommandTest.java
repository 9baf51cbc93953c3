package io.ringpoll.cli.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.options.CommandCalls;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class IdleCommandTest {
    private static final String NUMBER = "[0-9.]+";
    private static final String ESTIMATE = NUMBER + " \\(" + NUMBER + " to " + NUMBER + "\\)";

    private final CommandCalls calls = CommandCalls.of(IdleCommand::new);

    @Test
    @Timeout(60)
    void shouldPrintIntervals() {
        assertEquals(0, calls.execute("--seconds=1", "--wake-ups=20"), calls.err());
        final List<String> lines = calls.out().lines().map(line -> line.replaceAll(" +", " ")).toList();
        assertEquals(11, lines.size(), calls.out());
        lines.subList(1, 4).forEach(row -> assertTrue(row.matches("[a-z-]+ " + ESTIMATE + " " + ESTIMATE + " " + NUMBER), row));
        lines.subList(7, 11).forEach(row -> assertTrue(row.matches("[a-z-]+ " + ESTIMATE + " " + ESTIMATE), row));
    }

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
