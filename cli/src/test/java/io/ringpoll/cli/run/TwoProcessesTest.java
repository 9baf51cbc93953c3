package io.ringpoll.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.ChildProcesses;
import io.ringpoll.testing.ConnectedPair;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The main job as two processes over the loopback device, and with one of the two killed at random or stopped: the survivor
 * accounts for every work request, reports that its peer has gone, and ends. Mostly, the tests wait for processes that start and
 * for the next line of a second. So they run at the same time, without another class. The same on Soft-RoCE:
 * {@code cli/softroce/two-processes}.
 */
@Timeout(600)
class TwoProcessesTest {
    private static final int LATEST_KILL_MS = 1_000;
    private static final Pattern ROW = Pattern.compile(
        "(?m)^(send/write|receive|error) +([0-9,]+) +([0-9,]+) +([0-9,]+) +([0-9,]+)$");

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

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldLoseNothingAsTwoProcesses() throws Exception {
        assertLosesNothing(ConnectedPair.anyPort(), "server", "client");
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldAccountForEverythingAtTheServerWhenTheClientIsKilled() throws Exception {
        final String port = ConnectedPair.anyPort();
        final Process server = startServer("server", port);
        final Process client = startClient("client", port, "--seconds", "100");
        processes.awaitLine("client", "  1 s ");
        processes.killWithin(client, LATEST_KILL_MS);
        processes.assertEnds(server, "server");
        assertAccounted("server");
        assertTrue(processes.log("server").contains("gone without a goodbye"), processes.log("server"));
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldAccountForEverythingAtTheClientWhenTheServerIsKilled() throws Exception {
        final String port = ConnectedPair.anyPort();
        final Process server = startServer("server", port);
        final Process client = startClient("client", port, "--seconds", "100");
        processes.awaitLine("client", "  1 s ");
        processes.killWithin(server, LATEST_KILL_MS);
        processes.assertEnds(client, "client");
        assertAccounted("client");
        assertTrue(processes.log("client").contains("the peer has gone"), processes.log("client"));
        // The port of the killed process can be used again; processes that use different bindings lose nothing either.
        assertLosesNothing(port, "next server", "next client", "--api", "verbs");
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldDelayOnlyThePeerOfAStoppedProcess() throws Exception {
        final String port = ConnectedPair.anyPort();
        final String anotherPort = ConnectedPair.anyPort();
        final Process server = startServer("server", port);
        final Process anotherServer = startServer("another server", anotherPort);
        final Process client = startClient("client", port, "--seconds", "1000");
        final Process anotherClient = startClient("another client", anotherPort, "--seconds", "1000");
        awaitProgress("client", 0);
        awaitProgress("another client", 0);
        ChildProcesses.signal(server, "STOP");
        awaitProgress("another client");
        ChildProcesses.signal(server, "CONT");
        awaitProgress("client");
        processes.killWithin(client, 1);
        processes.killWithin(anotherClient, 1);
        processes.assertEnds(server, "server");
        processes.assertEnds(anotherServer, "another server");
        assertAccounted("server");
        assertAccounted("another server");
    }

    private void assertLosesNothing(
        final String port, final String serverName, final String clientName, final String... ofServer) throws Exception {
        final Process server = startServer(serverName, port, ofServer);
        final Process client = startClient(clientName, port, "--operations", "20000");
        processes.assertEnds(client, clientName);
        processes.assertEnds(server, serverName);
        assertAccounted(clientName);
        assertAccounted(serverName);
    }

    private Process startServer(final String name, final String port, final String... further)
        throws IOException, InterruptedException {
        final List<String> options = new ArrayList<>(List.of("--role", "server", "--address", "127.0.0.1:" + port));
        options.addAll(List.of(further));
        final Process server = start(name, options.toArray(String[]::new));
        processes.awaitLine(name, "the server listens");
        return server;
    }

    private Process startClient(final String name, final String port, final String option, final String value)
        throws IOException {
        return start(name, "--role", "client", "--address", "127.0.0.1:" + port, "--warm-up", "0", option, value);
    }

    private Process start(final String name, final String... options) throws IOException {
        final List<String> words = new ArrayList<>(List.of("run", "--device", "loopback", "--wait", "block"));
        words.addAll(List.of(options));
        return processes.start(name, words);
    }

    /** Waits for two lines of each second's counts that differ, from now on. */
    private void awaitProgress(final String name) throws IOException, InterruptedException {
        awaitProgress(name, processes.log(name).length());
    }

    /** The same behind so many characters of the log. */
    private void awaitProgress(final String name, final int begin) throws IOException, InterruptedException {
        int from = begin;
        String before = null;
        for (;;) {
            final MatchResult line = processes.awaitLine(name, " *\\d+ s +send/write ([0-9,]+) .*\\n", from);
            if (before != null && !line.group(1).equals(before)) {
                return;
            }
            before = line.group(1);
            from += line.end();
        }
    }

    private void assertAccounted(final String name) throws IOException {
        final String log = processes.log(name);
        final List<String[]> rows = ROW.matcher(log).results()
            .map(row -> new String[] {row.group(2), row.group(3), row.group(4), row.group(5)}).toList();
        assertEquals(3, rows.size(), log);
        for (final String[] row : rows) {
            assertEquals(row[0], row[1], log);
            assertEquals("0", row[2], log);
            assertEquals("0", row[3], log);
        }
        assertFalse(rows.stream().allMatch(row -> row[0].equals("0")), log);
        assertTrue(log.contains("corrupted payloads   0"), log);
    }
}
