package io.ringpoll.bench.throughput;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.CpuLoss;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The whole command in small; the figures of a loaded machine are not looked at. */
@Timeout(120)
class ThroughputCommandTest {
    private static final CpuLoss NO_LOSS = new CpuLoss(1_000_000_000, 0, 0, 0);
    private static final CpuLoss LOSS = new CpuLoss(1_000_000_000, 200_000_000, 0, 5);

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldGiveEachItsTurnInBothRegimes() throws IOException {
        assertEquals(0, run("--rounds 2 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield --handlers 2 "
            + "--against c,c-bare-loop --json"), err.toString());
        final JsonNode windows = new ObjectMapper().readTree(out.toString()).path("windows");
        assertEquals(2 * 2 * 3, windows.size());
        final Set<String> seen = new HashSet<>();
        windows.forEach(window -> seen.add(window.path("handOff").asText() + " " + window.path("asked").asText()));
        assertEquals(Set.of("ringpoll close", "c close", "c-bare-loop close", "ringpoll trailing", "c trailing",
            "c-bare-loop trailing"), seen);
    }

    @Test
    void shouldHandleTheSameInBatches() throws IOException {
        assertEquals(0, run("--in-batches --rounds 1 --warm-up 0 --window 20 --lead-in 10 --pin none --wait yield --handlers 3 "
            + "--regime trailing --against c --json"), err.toString());
        new ObjectMapper().readTree(out.toString()).path("windows").forEach(
            window -> assertTrue(window.path("nsPerCompletion").asDouble() > 0, window.toString()));
    }

    @Test
    void shouldCompareTurnsOfTheSameRoundAndRegimeOnly() {
        final List<HandOff> handOffs = List.of(new RingpollHandOff(), HandOffs.of("c"));
        final ThroughputReport report = new ThroughputReport("1-handlers", handOffs, List.of(
            window(0, "ringpoll", 11, 0, NO_LOSS), window(0, "c", 10, 0, NO_LOSS),
            // It fell into the other regime by itself.
            window(1, "ringpoll", 3, 1, NO_LOSS), window(1, "c", 10, 0, NO_LOSS),
            window(2, "ringpoll", 99, 0, LOSS), window(2, "c", 10, 0, NO_LOSS),
            window(3, "ringpoll", 24, 0, NO_LOSS), window(3, "c", 20, 0, NO_LOSS)));
        final List<BenchResult> results = report.results();
        assertEquals(1, results.size(), results.toString());
        assertEquals("throughput/1-handlers/close", results.getFirst().name());
        assertEquals(2, results.getFirst().runs());
        assertEquals(1.15, results.getFirst().ratio(), 1e-9);
    }

    @Test
    void shouldSayWhyATableIsEmpty() {
        final List<HandOff> handOffs = List.of(new RingpollHandOff(), HandOffs.of("c"));
        new ThroughputReport("1-handlers", handOffs, List.of(
            window(0, "ringpoll", 11, 0, LOSS), window(0, "c", 10, 0, NO_LOSS))).printTable(new PrintWriter(out, true));
        assertTrue(out.toString().contains("ringpoll: none of its 1 turns counts: other threads had its CPUs"), out.toString());
        assertFalse(out.toString().contains("c: none"), out.toString());
    }

    @Test
    void shouldNotCountATurnInWhichSomethingWasLost() {
        final ThroughputWindow window =
            new ThroughputWindow(0, "ringpoll", Regime.CLOSE, 10, 0, NO_LOSS, "polled 4 completions, handled 3");
        assertFalse(window.counts());
        assertTrue(window(0, "ringpoll", 10, 0, NO_LOSS).counts());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--handlers 4 | not from 1 to 3",
        "--rounds 0 | --rounds 0",
        "--window 0 | --window",
        "--ring-size 100 | not a power of two",
        "--batch 0 | --batch 0",
        "--regime lazy | --regime 'lazy' is not close, trailing or both",
        "--against pigeon | no hand-off 'pigeon'",
        "--handlers 2 --against spsc-array-queue | one handler, not 2",
    })
    void shouldRefuseWhatCannotBeMeasuredInOneLine(final String arguments, final String reason) {
        assertEquals(2, run(arguments));
        assertTrue(err.toString().contains(reason.strip()), err.toString());
        assertEquals(1, err.toString().lines().count());
    }

    private static ThroughputWindow window(
        final int round, final String label, final double costNs, final double occupied, final CpuLoss loss) {
        return new ThroughputWindow(round, label, Regime.CLOSE, costNs, occupied, loss, "");
    }

    private int run(final String arguments) {
        final CommandLine line = new CommandLine(new ThroughputCommand());
        line.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        line.setParameterExceptionHandler((refused, given) -> {
            line.getErr().println(refused.getMessage());
            return CommandLine.ExitCode.USAGE;
        });
        return line.execute(arguments.split(" "));
    }
}
