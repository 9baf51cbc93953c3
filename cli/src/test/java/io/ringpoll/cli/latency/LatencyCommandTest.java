package io.ringpoll.cli.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.internal.os.MemoryPolicy;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the complete command with small settings; the figures of a loaded machine are not checked. */
@Timeout(400)
class LatencyCommandTest {
    private final CommandCalls calls = CommandCalls.of(LatencyCommand::new);

    @TempDir
    private Path folder;

    @Test
    void shouldMeasureRingpollAndCOverTheSyntheticQueue() throws IOException {
        final JsonNode root = json("--rate 20000 --duration 0.2 --warm-up 0 --lead-in 20");
        final JsonNode runs = root.path("latencies").path(0).path("runs");
        assertEquals("ringpoll", runs.path(0).path("name").asText());
        assertEquals("c", runs.path(1).path("name").asText());
        for (final JsonNode run : runs) {
            assertEquals(4_000, run.path("count").asInt(), "due in 200 ms at 20,000 a second");
            assertTrue(run.path("p99.99").asLong() >= run.path("median").asLong());
            assertTrue(run.path("min").asLong() > 0);
        }
        assertTrue(root.path("machine").path("cpu").isTextual());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--rate 20000 --duration 1.2", "--over loopback --iterations 3"})
    void shouldMeasureABaselineOnceThatIsNamedTwice(final String measurement) throws IOException {
        final JsonNode runs = json(measurement + " --warm-up 0 --lead-in 20 --against c,ringpoll,c").path("latencies").path(0)
            .path("runs");
        assertEquals(2, runs.size(), "ringpoll and c");
        assertEquals(runs.path(0).path("turns").size(), runs.path(1).path("turns").size());
    }

    @Test
    void shouldReportAnAddressOfAnotherMachineOnce() {
        try {
            assertEquals(1, run("--role server --over loopback --address 192.0.2.1"));
            assertTrue(calls.err().contains("no network interface of this machine has the address"), calls.err());
            assertEquals(LogLevel.DISABLED, RpmaLog.threshold(), "librpma logs the same message");
        } finally {
            RpmaLog.threshold(LogLevel.WARNING);
        }
    }

    @Test
    void shouldFailIfNothingWasRecorded() {
        assertEquals(1, run("--rate 1 --duration 0.01 --warm-up 0 --lead-in 20 --against none"));
        assertTrue(calls.err().contains("ringpoll latency: nothing was recorded of ringpoll in "), calls::toString);
        assertTrue(calls.out().contains("nothing was recorded in 1 of 1 turns"), calls::toString);
    }

    @Test
    void shouldMarkARateThatCannotBeKept() {
        assertEquals(1, run("--rate 1000000000 --duration 0.05 --warm-up 0 --lead-in 0 --against none --strict"));
        assertTrue(calls.out().contains("missed its rate"), calls.out());
    }

    @Test
    void shouldRecordAsManyRoundTripsAsAskedForOverTheLoopbackDevice() throws IOException {
        for (final String operation : List.of(
            "send", "write", "read", "send --run-to-completion", "read --run-to-completion")) {
            // Many to a turn, then turns of one: each turn takes a fifth of a second.
            final int iterations = operation.equals("send") ? 300 : 3;
            final JsonNode root = json("--over loopback --warm-up 0 --lead-in 20 --against c,c-bare-loop --size 256 "
                + "--iterations " + iterations + " --operation " + operation);
            final JsonNode measurement = root.path("latencies").path(0);
            assertEquals(
                "latency/loopback/" + operation.split(" ")[0] + "-ping-pong/256-bytes", measurement.path("name").asText());
            assertEquals(operation.contains("--") ? "ringpoll-run-to-completion" : "ringpoll",
                measurement.path("runs").path(0).path("name").asText());
            assertEquals(3, measurement.path("runs").size());
            for (final JsonNode run : measurement.path("runs")) {
                assertEquals(iterations, run.path("count").asInt(), run.path("name").asText());
                assertFalse(run.path("marks").toString().contains("went wrong"), run.toString());
            }
        }
    }

    @Test
    void shouldMeasureOverVerbs() throws IOException {
        for (final String operation : List.of("send", "write", "read")) {
            // Many to a turn, then turns of one.
            final int iterations = operation.equals("send") ? 100 : 3;
            final JsonNode root = json("--over loopback --api verbs --warm-up 0 --lead-in 20 --against c --size 256 "
                + "--iterations " + iterations + " --operation " + operation);
            final JsonNode measurement = root.path("latencies").path(0);
            assertEquals("latency/loopback/verbs/" + operation + "-ping-pong/256-bytes", measurement.path("name").asText());
            assertEquals(iterations, measurement.path("runs").path(0).path("count").asInt());
        }
    }

    @ParameterizedTest
    @CsvSource({"--iterations 100, 100", "--iterations 3 --run-to-completion, 3",
        "--mode rate --rate 1000 --duration 0.1, 100", "--mode rate --rate 1000 --duration 0.1 --operation send, 100"})
    void shouldSplitTheTimeOfCompletionsOverVerbs(final String measurement, final int completions) throws IOException {
        final JsonNode root = json("--over loopback --api verbs --warm-up 0 --lead-in 20 --against none " + measurement);
        final JsonNode runs = root.path("latencies").path(0).path("runs");
        final String ours = measurement.contains("--run") ? "ringpoll-run-to-completion" : "ringpoll";
        assertEquals(List.of(ours, ours + "-timestamps"), List.of(runs.path(0).path("name").asText(),
            runs.path(1).path("name").asText()));
        assertFalse(runs.path(0).has("split"));
        for (final String part : List.of("deviceToPoll", "pollToHandler")) {
            final JsonNode times = runs.path(1).path("split").path(part);
            assertEquals(completions, times.path("count").asInt(), part);
            assertTrue(times.path("p99.99").asLong() >= times.path("median").asLong(), part);
        }
        final JsonNode clock = root.path("deviceClock");
        assertTrue(clock.path("offered").asBoolean());
        assertEquals(1.0, clock.path("resolutionNs").asDouble());
        assertTrue(clock.path("comparisonErrorNs").path("median").asLong() > 0, clock.toString());
        assertTrue(clock.path("differenceNs").has("max"), clock.toString());
    }

    @Test
    void shouldPrintTheSplitAndTheClock() {
        assertEquals(0, run("--over loopback --api verbs --warm-up 0 --iterations 3 --against none --pin none --wait yield"),
            calls.err());
        final String out = calls.out();
        assertTrue(out.contains("time of a completion of ringpoll-timestamps, ns"), out);
        assertTrue(out.contains("device to poll  ") && out.contains("poll to handler  "), out);
        assertTrue(out.contains("kHz; resolution 1.00 ns; in 200 comparisons with System.nanoTime()"), out);
    }

    @Test
    void shouldNotSplitOverLibrpma() throws IOException {
        final JsonNode root = json("--over loopback --warm-up 0 --lead-in 20 --against none --iterations 3");
        assertFalse(root.has("deviceClock"));
        assertEquals(1, root.path("latencies").path(0).path("runs").size());
    }

    @Test
    void shouldRefuseVerbsForTheSyntheticQueue() {
        assertEquals(2, run("--api verbs --over synthetic"));
        assertEquals("ringpoll latency: --api verbs needs --over loopback or rdma: the synthetic queue has no connection",
            calls.err().strip());
    }

    @Test
    void shouldPostAtARateOverTheLoopbackDevice() throws IOException {
        for (final String operation : List.of("write", "read", "send")) {
            final JsonNode root = json(
                "--over loopback --mode rate --rate 1000 --duration 0.2 --warm-up 0 --lead-in 20 --operation " + operation);
            for (final JsonNode run : root.path("latencies").path(0).path("runs")) {
                assertEquals(200, run.path("turns").path(0).path("due").asInt(), run.toString());
                assertEquals(200, run.path("count").asInt(), run.toString());
            }
        }
    }

    @Test
    void shouldSpinOnlyWhereTheThreadThatPostsHasACpuToo() {
        assertEquals(0, run("--over loopback --mode rate --rate 1000 --duration 0.1 --warm-up 0 --against none --pin none"),
            calls.err());
        final boolean enough = Runtime.getRuntime().availableProcessors() >= 3;
        assertTrue(calls.out().contains(enough ? "waiting by busy-spin" : "waiting by yield"), calls.out());
    }

    @Test
    void shouldNeverFindTheReceiverNotReadyWhenMoreIsDueAtOnceThanReceivesArePosted() throws IOException {
        final JsonNode root = json("--over loopback --mode rate --rate 20000 --burst 1000 --operation send --size 4096 "
            + "--duration 0.2 --warm-up 0 --lead-in 0");
        for (final JsonNode run : root.path("latencies").path(0).path("runs")) {
            assertEquals(4000, run.path("count").asInt(), run.toString());
            assertFalse(run.path("marks").toString().contains("went wrong"), run.toString());
        }
    }

    @Test
    void shouldWriteHistogramsResultsAndPlots() throws IOException {
        assertEquals(0, run("--rate 20000 --duration 0.1 --warm-up 0 --lead-in 20 --output " + folder), calls.err());
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of("latency-synthetic-20000-per-second-c.hgrm", "latency-synthetic-20000-per-second-c.hlog",
                "latency-synthetic-20000-per-second-dark.svg",
                "latency-synthetic-20000-per-second-ringpoll.hgrm", "latency-synthetic-20000-per-second-ringpoll.hlog",
                "latency-synthetic-20000-per-second.png", "latency-synthetic-20000-per-second.svg", "latency.json"),
                files.map(file -> file.getFileName().toString()).sorted().toList());
        }
        assertTrue(Files.readString(folder.resolve("latency-synthetic-20000-per-second.svg")).contains("<svg"));
    }

    @Test
    void shouldBindMemoryToANumaNodeAndReportItsPlacement() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/self/numa_maps")), "the kernel has no NUMA");
        try {
            final JsonNode numa = json("--numa-node 0 --rate 1000 --duration 0.1 --warm-up 0 --lead-in 0").path("numa");
            assertEquals(0, numa.path("node").asInt(-1));
            assertTrue(numa.path("bytes").path("0").asLong() > 1 << 20, numa.toString());
            assertEquals(BitSet.valueOf(new long[] {1}), MemoryPolicy.boundTo());
        } finally {
            MemoryPolicy.reset();
        }
    }

    @Test
    void shouldExitWithOneIfAStrictRunWasNotPinned() {
        assertEquals(1, run("--pin none --strict --rate 1000 --duration 0.1 --warm-up 0 --against none"));
        assertTrue(calls.out().contains("ringpoll: ") && calls.out().contains("not pinned"), calls.out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--rate 0 | a rate of 0",
        "--over moon | --over 'moon' is not synthetic or loopback or rdma",
        "--mode ping-pong | there is no ping-pong over the synthetic queue",
        "--size 64 | no --size",
        "--operation read | no --operation",
        "--over loopback --operation shout | --operation 'shout' is not send or write or read",
        "--over loopback --size 0 | --size 0",
        "--over loopback --rate 5 | ping-pong has no --rate",
        "--over loopback --burst 1 | ping-pong has no --rate, --burst or --random",
        "--burst 0 | a burst of 0",
        "--random --burst 1 | --random and --burst exclude each other",
        "--duration 1 --iterations 1 | exclude each other",
        "--address 127.0.0.1 | the synthetic queue has no connection: no --address",
        "--against none,c | --against none has no other baseline beside it",
        "--against pigeon | no hand-off 'pigeon'",
        "--over loopback --against spsc-array-queue | over the synthetic queue only",
        "--over loopback --mode rate --run-to-completion | --run-to-completion is for ping-pong",
        "--pin 0 | needed are 2",
        "--pin x,y | 'x' is no number",
        "--numa-node 99 | no such node",
        "--wait dance | --wait 'dance'",
        "--ring-size 3 | --ring-size 3 is not a power of two",
        "--role peer | --role 'peer' is not both, server or client",
        "--role client --over synthetic | --role needs a device",
        "--role client --mode rate --operation send | a send at a rate ends at the server",
        "--role client --against c | no --against",
        "--role server --json | for --role client, not for --role server: --json",
        "--role server --size 8 --rate 9 --mode rate | for --role client, not for --role server: --mode, --rate, --size",
        "--role server --burst 3 | not for --role server: --burst",
        "--role server --random --operation write | not for --role server: --random, --operation",
        "--role server --warm-up 1 --lead-in 1 | not for --role server: --warm-up, --lead-in",
        "--role server --duration 1 --iterations 1 | not for --role server: --duration, --iterations",
        "--role server --seed 1 --verbose --strict --output . | not for --role server: --seed, --output, --strict, --verbose",
        "--role client --address :7 | has no host",
    })
    void shouldRejectInvalidMeasurementsInOneLine(final String arguments, final String reason) {
        assertEquals(2, run(arguments));
        assertTrue(calls.err().contains(reason.strip()), calls.err());
        assertEquals(1, calls.err().lines().count());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help"})
    void shouldExplainItself(final String arguments) {
        assertEquals(0, run(arguments));
        assertTrue(calls.out().contains("--iterations"));
    }

    private JsonNode json(final String arguments) throws IOException {
        assertEquals(0, run(arguments + " --json --pin none --wait yield"), calls.err());
        return calls.json();
    }

    private int run(final String arguments) {
        return calls.execute(arguments.split(" "));
    }
}
