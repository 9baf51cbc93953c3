package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(300)
class TortureCommandTest {
    private final CommandCalls calls = CommandCalls.of(TortureCommand::new);

    @TempDir
    private Path folder;

    @Test
    void shouldFindEachWorkRequestEndedAsTheModelHasIt() throws IOException, InterruptedException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes fault plans");
        final JsonNode report = TortureProcess.report(folder, "--seconds", "6", "--seed", "1");
        assertTrue(report.get("scenes").asInt() >= 1, report::toString);
        assertTrue(report.get("workRequests").asLong() >= 100, report::toString);
    }

    @Test
    void shouldNotLogTheExceptionsOfHandlersThatAScenePlans() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes fault plans");
        try (LogCapture log = new LogCapture("io.ringpoll.pipeline")) {
            assertEquals(0, calls.execute("--scenes", "2", "--seed", "-7"), calls::toString);
            assertEquals(List.of(), log.exceptions());
        }
    }

    @Test
    void shouldPlayTheSameScenesOverVerbs() throws IOException, InterruptedException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes fault plans");
        final JsonNode report = TortureProcess.report(folder, "--api", "verbs", "--seconds", "6", "--seed", "1");
        assertEquals("verbs", report.get("api").asText());
        assertTrue(report.get("workRequests").asLong() >= 100, report::toString);
    }

    @ParameterizedTest
    @CsvSource({"--lifecycle, 1", "--connections, 1", "--processes, 4"})
    void shouldPlayScenesInProcessesOverVerbs(final String kind, final String seed) throws IOException, InterruptedException {
        // Always the same scenes: a run by hand draws others.
        final JsonNode report =
            TortureProcess.report(folder, kind, "--api", "verbs", "--jvm", "PLAIN", "--seconds", "3", "--seed", seed);
        assertEquals("verbs", report.get("api").asText());
        assertTrue(report.get("scenes").asInt() >= 1, report::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--seconds=0 | --seconds 0.0 is not a time above 0 and up to a year",
        "--seconds=NaN | --seconds NaN is not a time above 0 and up to a year",
        "--scenes=-1 | --scenes -1 is not 1 or more",
        "--scenes=0 | --scenes 0 is not 1 or more",
        "--seed=x | Invalid value for option '--seed': 'x' is not a whole number up to 9223372036854775807; see " +
            "'./ringpoll torture --help'",
        "--scenes=1 --seconds=1 | --seconds and --scenes exclude each other",
        "--api=dapl | Invalid value for option '--api': 'dapl' is not rpma or verbs; see './ringpoll torture --help'",
        "--lifecycle --jvm=SLOW | Invalid value for option '--jvm': 'SLOW' is not PLAIN, ONE_CPU, C2_ONLY or GUARDED_MEMORY; " +
            "see './ringpoll torture --help'",
        "--device=tape | Invalid value for option '--device': 'tape' is not auto, loopback or rdma; see " +
            "'./ringpoll torture --help'",
        "--lifecycle --device=rdma | --device goes without --lifecycle, --connections and --processes; RINGPOLL_DEVICE chooses " +
            "theirs",
        "--gently | Unknown option: '--gently'; see './ringpoll torture --help'",
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String arguments, final String message) {
        assertEquals(2, calls.execute(arguments.split(" ")));
        assertEquals("ringpoll torture: " + message, calls.err().strip());
        assertEquals("", calls.out());
    }
}
