package io.ringpoll.cli.throughput;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.cli.options.CommandCalls;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the complete command with small settings; the figures of a loaded machine are not checked. */
@Timeout(120)
class ThroughputCommandTest {
    private final CommandCalls calls = CommandCalls.of(ThroughputCommand::new);

    @Test
    void shouldMeasureEachHandOffInBothRegimes() throws IOException {
        measure("--rounds 2 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield --handlers 2 "
            + "--against c,c-bare-loop --json");
        final JsonNode windows = calls.json().path("windows");
        assertEquals(2 * 2 * 3, windows.size());
        final Set<String> seen = new HashSet<>();
        windows.forEach(window -> seen.add(window.path("handOff").asText() + " " + window.path("asked").asText()));
        assertEquals(Set.of("ringpoll close", "c close", "c-bare-loop close", "ringpoll trailing", "c trailing",
            "c-bare-loop trailing"), seen);
    }

    @Test
    void shouldMeasureABaselineOnceThatIsNamedTwice() throws IOException {
        measure("--rounds 1 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield --regime close "
            + "--against c,ringpoll,c --json");
        assertEquals(2, calls.json().path("windows").size(), "ringpoll and c");
    }

    @Test
    void shouldHandleTheSameInBatches() throws IOException {
        measure("--in-batches --rounds 1 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield --handlers 3 "
            + "--regime trailing --against c --json");
        calls.json().path("windows").forEach(
            window -> assertTrue(window.path("nsPerCompletion").asDouble() > 0, window.toString()));
    }

    @Test
    void shouldHandleOnThePollingThread() throws IOException {
        measure("--run-to-completion --rounds 2 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield "
            + "--against c-bare-loop --json");
        final JsonNode windows = calls.json().path("windows");
        assertEquals(2 * 2 * 2, windows.size());
        windows.forEach(window -> assertTrue(window.path("nsPerCompletion").asDouble() > 0, window.toString()));
    }

    @Test
    void shouldMeasureOneUseOfEachQueueThatCopiesOrAllUses() throws IOException {
        for (final String against : List.of(HandOffs.COPYING, HandOffs.ALL_COPYING)) {
            measure("--rounds 1 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield --regime close "
                + "--json --against " + against);
            final Set<String> seen = new HashSet<>();
            calls.json().path("windows").forEach(window -> seen.add(window.path("handOff").asText()));
            final Set<String> expected = new HashSet<>(Set.of("ringpoll"));
            HandOffs.named(against).forEach(handOff -> expected.add(handOff.label()));
            assertEquals(expected, seen);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--handlers 4 | not from 1 to 3",
        "--api verbs | --api verbs needs --role: the synthetic queue has no connection",
        "--rounds 0 | --rounds 0",
        "--window 0 | --window",
        "--ring-size 100 | not a power of two",
        "--batch 0 | --batch 0",
        "--regime lazy | --regime 'lazy' is not close, trailing or both",
        "--against pigeon | no hand-off 'pigeon'",
        "--run-to-completion --handlers 2 | one handler",
        "--run-to-completion --in-batches | single completions",
        "--handlers 2 --against spsc-array-queue | one handler, not 2",
        "--handlers 2 --against all-copying | one handler, not 2",
        "--role peer | --role 'peer' is not both, server or client",
        "--address 127.0.0.1 | --address is for --role",
        "--size 64 | --operation, --size and --depth are for --role client",
        "--role client --size 0 | --size 0 is not from 1 to 8388608 bytes",
        "--role client --depth 65 | --depth 65 is not from 1 to 64",
        "--role client --operation shout | --operation 'shout' is not send or write or read",
        "--role client --regime close | no --handlers, --in-batches, --regime, --against or --seed",
        "--role server --json --verbose | for --role client, not for --role server: --json, --verbose",
        "--role server --rounds 1 --warm-up 0 | for --role client, not for --role server: --rounds, --warm-up",
        "--role server --window 1 --lead-in 1 | for --role client, not for --role server: --window, --lead-in",
    })
    void shouldRejectInvalidMeasurementsInOneLine(final String arguments, final String reason) {
        assertEquals(2, run(arguments));
        assertTrue(calls.err().contains(reason.strip()), calls.err());
        assertEquals(1, calls.err().lines().count());
    }

    /** On a loaded machine no turn may count. */
    private void measure(final String arguments) throws IOException {
        final int exit = run(arguments);
        assertEquals(calls.json().path("unmeasured").isEmpty() ? 0 : 1, exit, calls.err());
        assertTrue(calls.json().path("faults").isEmpty(), calls.err());
    }

    private int run(final String arguments) {
        return calls.execute(arguments.split(" "));
    }
}
