package io.ringpoll.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.testing.TestDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class FuzzCommandTest {
    private final CommandCalls calls = CommandCalls.of(FuzzCommand::new);

    @Test
    void shouldAcceptOrRefuseEveryInputInOneLine() {
        assumeTrue(TestDevice.isLoopback(), "targets that post invalid requests need the loopback device");
        assertEquals(0, calls.execute("--seconds", "6", "--seed", "1"), calls::toString);
        assertTrue(calls.out().contains("targets from seed 1"), calls.out());
    }

    @ParameterizedTest
    @CsvSource({"mix, 18", "fault-plan, 94", "address, 18", "private-data, 26", "stat-options, 68"})
    void shouldPassInputsOfFormerFindings(final String target, final String seed) {
        assumeTrue(TestDevice.isLoopback(), "targets that post invalid requests need the loopback device");
        assertEquals(0, calls.execute("--target", target, "--seed", seed, "--inputs", "1"), calls::toString);
    }

    @Test
    void shouldNameTheTargetsIfOneIsUnknown() {
        assertEquals(2, calls.execute("--target", "foo", "--inputs", "1"));
        assertTrue(calls.err().startsWith("ringpoll fuzz: --target 'foo' is none of memory-descriptor, "), calls.err());
        assertEquals(1, calls.err().lines().count(), calls.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--seconds=0 | --seconds 0.0 is not a time above 0 and up to a year",
        "--inputs=-1 | --inputs -1 is not 1 or more",
        "--inputs=0 | --inputs 0 is not 1 or more",
        "--inputs=1 --seconds=1 | --seconds and --inputs exclude each other",
        "--wildly | Unknown option: '--wildly'; see './ringpoll fuzz --help'",
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String arguments, final String message) {
        assertEquals(2, calls.execute(arguments.split(" ")));
        assertEquals("ringpoll fuzz: " + message, calls.err().strip());
    }
}
