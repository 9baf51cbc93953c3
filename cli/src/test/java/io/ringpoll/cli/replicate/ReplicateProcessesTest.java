package io.ringpoll.cli.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.ChildProcesses;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.ChildCommand;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.testing.ConnectedPair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code replicate --processes}: servers and client as processes. The figures of a loaded machine are not checked. */
@Timeout(900)
class ReplicateProcessesTest {
    private static final String SHORT = "--processes --rounds 1 --warm-up 1 --seconds 1 ";

    private final CommandCalls calls = CommandCalls.of(ReplicateCommand::new);

    @TempDir
    private Path folder;

    @AfterEach
    void requireNoProcess() {
        assertEquals(List.of(), ProcessHandle.current().children().filter(ProcessHandle::isAlive).toList());
    }

    @Test
    void shouldCompareGroupsOfProcessesForEachWindow() throws Exception {
        assertEquals(0, calls.execute((SHORT + "--compare --payload-max 1000 --json").split(" ")), calls.err());
        final JsonNode windows = calls.json().path("windows");
        assertEquals(List.of(1, 32), windows.findValues("window").stream().map(JsonNode::asInt).toList());
        for (final JsonNode window : windows) {
            for (final String contestant : List.of("ringpoll", "netty")) {
                assertTrue(window.path(contestant).path("appendsPerSecond").asDouble() > 0, window.toString());
                assertTrue(window.path(contestant).path("p50us").asDouble() > 0, window.toString());
            }
        }
        assertEquals("replicate/ringpoll/100-1000-bytes/window-1/processes/append",
            calls.json().path("results").path(0).path("name").asText());
    }

    @Test
    void shouldEndInOneLineAndKillTheServersWhenTheClientIsKilled() throws Exception {
        final CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() ->
            calls.execute("--processes --rounds 1 --warm-up 0 --seconds 600 --window 1".split(" ")));
        ProcessHandle client = null;
        while (client == null && !exit.isDone()) {
            client = ProcessHandle.current().children().filter(ReplicateProcessesTest::isClient).findAny().orElse(null);
            Thread.sleep(20);
        }
        assertTrue(client != null, calls.err());
        client.destroyForcibly();
        assertEquals(1, exit.get());
        assertTrue(calls.err().contains("the client over ringpoll has failed"), calls.err());
    }

    @Test
    void shouldNameAnInvalidSettingInOneLineAtTheEndOfAProcess() {
        assertEquals(1, calls.execute((SHORT + "--property raft.rdma.poller.spin=often").split(" ")));
        assertTrue(calls.err().lines().anyMatch(line -> line.matches(
            "ringpoll replicate: (server \\d over ringpoll has ended|the client over ringpoll has failed): --property:" +
            " raft\\.rdma\\.poller\\.spin = often: use a duration such as 10ms or 2s")), calls.err());
    }

    @Test
    void shouldRefuseAnInvalidSettingOfARole() {
        for (final String role : List.of("server --dir " + folder, "client --acknowledged " + folder.resolve("records"))) {
            assertEquals(2, calls.execute(("--peers 127.0.0.1:" + ConnectedPair.anyPort() +
                " --property raft.rdma.poller.spin=often --seconds 1 --role " + role).split(" ")), role);
            assertEquals("ringpoll replicate: --property: raft.rdma.poller.spin = often: use a duration such as 10ms or 2s",
                calls.err().strip());
        }
    }

    @Test
    void shouldStateThatAClientWaitsForServers() throws Exception {
        try (ChildProcesses processes = new ChildProcesses(folder)) {
            final String peer = "127.0.0.1:" + ConnectedPair.anyPort();
            processes.start("client", List.of("replicate", "--role", "client", "--peers", peer, "--acknowledged",
                folder.resolve("records").toString(), "--seconds", "1"));
            processes.awaitLine("client", "no record is acknowledged yet, after 5 s: " + peer +
                " have no leader, cannot be reached, or have no place for a further client, which they log; start a majority" +
                " of them, with the same --peers and the same raft.rdma.secret.file");
            Files.createDirectory(folder.resolve("log"));
            processes.start("server", List.of("replicate", "--role", "server", "--peers", peer, "--dir",
                folder.resolve("log").toString()));
            processes.awaitLine("client", "acknowledged \\d+ records; p50");
        }
    }

    @Test
    void shouldEndAServerAfterItsTime() throws Exception {
        try (ChildProcesses processes = new ChildProcesses(folder)) {
            final Process server = processes.start("server", List.of("replicate", "--role", "server", "--peers",
                "127.0.0.1:" + ConnectedPair.anyPort(), "--dir", folder.resolve("log").toString(), "--seconds", "1"));
            processes.assertEnds(server, "server");
            assertTrue(processes.log("server").contains("the time of server 0 is over"), processes.log("server"));
        }
    }

    @Test
    void shouldLeaveNoFilesAtASignal() throws Exception {
        final Path temporary = Files.createDirectory(folder.resolve("temporary"));
        final Process process = new ProcessBuilder(ChildCommand.of(List.of("-Djava.io.tmpdir=" + temporary), Ringpoll.class,
            "replicate", "--processes", "--rounds", "1", "--warm-up", "0", "--seconds", "600", "--window", "1"))
            .redirectErrorStream(true).redirectOutput(folder.resolve("output").toFile()).start();
        try {
            while (process.descendants().noneMatch(ReplicateProcessesTest::isClient)) {
                assertTrue(process.isAlive(), Files.readString(folder.resolve("output")));
                Thread.sleep(20);
            }
            process.destroy();
            process.waitFor();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        try (Stream<Path> left = Files.list(temporary)) {
            assertEquals(List.of(), left.filter(file -> file.getFileName().toString().startsWith("ringpoll-replicate")).toList());
        }
    }

    /** The information about a process cuts off long command lines. */
    private static boolean isClient(final ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")).contains("--role\0client\0");
        } catch (final IOException ended) {
            return false;
        }
    }
}
