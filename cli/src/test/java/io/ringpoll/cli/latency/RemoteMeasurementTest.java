package io.ringpoll.cli.latency;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.ChildProcesses;
import io.ringpoll.testing.ConnectedPair;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code latency} and {@code throughput} with a server in another process, over the loopback device: with both to the end, and
 * with one of the two killed. The figures of a loaded machine are not checked.
 */
@Timeout(600)
class RemoteMeasurementTest {
    private final String address = "127.0.0.1:" + ConnectedPair.anyPort();

    @TempDir
    private Path folder;
    private ChildProcesses processes;

    @BeforeEach
    void createProcesses() {
        processes = new ChildProcesses(folder);
    }

    @AfterEach
    void endProcesses() throws InterruptedException {
        processes.close();
    }

    @ParameterizedTest
    @CsvSource({
        "latency, '--warm-up 0 --iterations 1 --lead-in 5 --size all', 'latency/loopback/to-server/.*/8388608-bytes, ns'",
        "latency, '--warm-up 0 --iterations 20 --operation write', 'ringpoll +20 '",
        "latency, '--warm-up 0 --iterations 3 --operation read --run-to-completion', 'ringpoll-run-to-completion +3 '",
        "latency, '--warm-up 0 --iterations 50 --mode rate --rate 100', 'ringpoll '",
        "throughput, '--warm-up 0 --rounds 3 --window 200 --operation send --depth 64', '.*; median of 3 rounds'",
        "throughput, '--warm-up 0 --rounds 3 --window 200 --operation read --run-to-completion', '.*; median of 3 rounds'",
        "latency, '--warm-up 0 --iterations 3 --operation write --api verbs', 'ringpoll +3 '",
        "throughput, '--warm-up 0 --rounds 3 --window 200 --operation send --api verbs', '.*/verbs/.*; median of 3 rounds'"
    })
    void shouldMeasureToAServerInAnotherProcess(final String command, final String options, final String result)
        throws Exception {
        final Process server = startServer(command, options.contains("--api verbs") ? "verbs" : "rpma");
        final Process client = start("client", command, "client", options.split(" "));
        processes.assertEnds(client, "client");
        processes.awaitLine("client", result);
        processes.assertEnds(server, "server");
        assertTrue(processes.log("server").contains("client 1 is done"), processes.log("server"));
        assertTrue(processes.log("server").contains("the server ends after its last client"), processes.log("server"));
    }

    @Test
    void shouldServeASecondClientWhileTheFirstMeasures() throws Exception {
        final Process server = startServer("latency", "rpma");
        final Process client = start("client", "latency", "client", "--duration", "1000");
        processes.awaitLine("server", "client 1 has connected");
        final Process second = start("second", "throughput", "client", "--rounds", "1", "--warm-up", "0", "--operation", "send");
        processes.assertEnds(second, "second");
        processes.awaitLine("server", "client 2 is done");
        processes.killWithin(client, 1);
        processes.awaitLine("server", "client 1 has gone without a goodbye");
        processes.assertEnds(server, "server");
    }

    @ParameterizedTest
    @ValueSource(strings = {"latency --duration 1000", "latency --mode rate --rate 1000 --duration 1000",
        "throughput --rounds 10000"})
    void shouldEndTheClientInOneLineWhenItsServerIsKilled(final String measurement) throws Exception {
        final List<String> words = List.of(measurement.split(" "));
        final Process server = startServer(words.getFirst(), "rpma");
        final Process client =
            start("client", words.getFirst(), "client", words.subList(1, words.size()).toArray(String[]::new));
        processes.awaitLine("server", "client 1 has connected");
        processes.killWithin(server, 1_000);
        processes.assertEnds(client, "client", 1);
        processes.awaitLine("client", "ringpoll " + words.getFirst() +
            ": (the server at 127.0.0.1, port \\d+ has gone|an operation failed: the connection to the server .* is broken)$");
    }

    private Process startServer(final String command, final String api) throws IOException, InterruptedException {
        final Process server = start("server", command, "server", "--api", api);
        processes.awaitLine("server", "the server listens on 127.0.0.1, port ");
        return server;
    }

    private Process start(final String name, final String command, final String role, final String... options)
        throws IOException {
        final List<String> words = new ArrayList<>(List.of(command, "--role", role, "--address", address, "--wait", "yield"));
        words.addAll(List.of(options));
        return processes.start(name, words);
    }
}
