package io.ringpoll.cli.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.ChildProcesses;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.testing.ConnectedPair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A group of three servers and a client, each a process, over the loopback device: each role is killed at a random moment, and
 * the leader is stopped for longer than the keepalive time. Starts of processes take nearly all of the time: so there is one
 * group. Its servers have both bindings, and which one two of them have is random: all pairs of bindings are linked over some
 * runs. The first server that is killed has not the binding of the leader, and the next ones are leaders. The same on Soft-RoCE:
 * {@code cli/softroce/replication}.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class KilledRolesTest {
    private static final int SERVERS = 3;
    /** Of servers and clients, by their numbers. */
    private static final List<String> BINDINGS = List.of("rpma", "verbs");
    /** Records that are acknowledged after a server was killed, before the next step. */
    private static final int FURTHER = 50;
    private static final int LATEST_KILL_MS = 300;
    private static final int KEEPALIVE_MS = 2_000;
    private static final String KEEPALIVE = "raft.rdma.keepalive.timeout=" + KEEPALIVE_MS + "ms";
    /** Records take most of a CPU if they are more frequent, and the start of a server then takes twice as long. */
    private static final String EVERY_MS = "20";
    private static final Pattern LEADER = Pattern.compile("(?m)^the leader is server-([0-2])$");
    private static final Pattern ACKNOWLEDGED = Pattern.compile("(?m)^on a majority: .*acknowledged records: (\\d+)");
    /** Of the client's file, for each acknowledged record. */
    private static final int ENTRY_BYTES = 16;
    private static final int BOUND_SECONDS = 180;

    @TempDir
    private Path folder;
    private ChildProcesses processes;
    private int firstBinding;
    private final String peers = Stream.generate(() -> "127.0.0.1:" + ConnectedPair.anyPort()).limit(SERVERS)
        .reduce((a, b) -> a + "," + b).orElseThrow();
    private final Process[] servers = new Process[SERVERS];
    private final int[] starts = new int[SERVERS];

    @BeforeEach
    void createProcesses() {
        processes = new ChildProcesses(folder);
        firstBinding = processes.draw(BINDINGS.size());
    }

    @AfterEach
    void endProcesses() throws InterruptedException {
        processes.close();
    }

    @Test
    void shouldLoseNoAcknowledgedRecordWhenProcessesOfEachRoleAreKilled() throws Exception {
        for (int n = 0; n < SERVERS; n++) {
            startServer(n);
        }
        // It waits for a leader.
        final Process client = startClient(1, 3600);
        for (int n = 0; n < SERVERS; n++) {
            awaitRejoined(n);
        }
        awaitAcknowledged(FURTHER);

        // Over the binding that the leader has not.
        final int led = leader();
        killAndRestart(IntStream.range(0, SERVERS).filter(n -> !api(n).equals(api(led))).findFirst().orElseThrow());
        // The second majority needs the server that the first one has restored.
        killAndRestart(leader());
        killAndRestart(leader());
        stopAndContinue(leader());

        processes.killWithin(client, LATEST_KILL_MS);
        processes.assertEnds(startClient(2, 1), "client-2");
        for (int n = 0; n < SERVERS; n++) {
            servers[n].destroy();
        }
        for (int n = 0; n < SERVERS; n++) {
            assertTrue(servers[n].waitFor(60, TimeUnit.SECONDS), processes.log(log(n)));
        }
        verify();
    }

    /** In this process: no other one is killed. */
    private void verify() {
        final List<String> words = new ArrayList<>(List.of("verify", "--acknowledged", acknowledged(1), "--acknowledged",
            acknowledged(2)));
        IntStream.range(0, SERVERS).forEach(n -> words.add(directory(n).toString()));
        final CommandCalls calls = CommandCalls.of(ReplicateCommand::new);
        assertEquals(0, calls.execute(words.toArray(String[]::new)), calls.toString());
        final Matcher found = ACKNOWLEDGED.matcher(calls.out());
        assertTrue(found.find() && Integer.parseInt(found.group(1)) >= 3 * FURTHER && calls.out().contains("faults: 0"),
            calls.toString());
    }

    private void killAndRestart(final int server) throws IOException, InterruptedException {
        processes.killWithin(servers[server], LATEST_KILL_MS);
        awaitAcknowledged(acknowledgedSoFar() + FURTHER);
        startServer(server);
        awaitRejoined(server);
    }

    /** It has no connection any more when it continues, and must reach the others again: its records are verified, too. */
    private void stopAndContinue(final int server) throws IOException, InterruptedException {
        final int logged = processes.log(log(server)).length();
        ChildProcesses.signal(servers[server], "STOP");
        final long before = acknowledgedSoFar();
        Thread.sleep(2 * KEEPALIVE_MS);
        // There is another leader.
        awaitAcknowledged(before + FURTHER);
        ChildProcesses.signal(servers[server], "CONT");
        processes.awaitLine(log(server), "the leader is server-", logged);
        awaitAcknowledged(acknowledgedSoFar() + FURTHER);
    }

    private void startServer(final int n) throws IOException {
        starts[n]++;
        Files.createDirectories(directory(n));
        servers[n] = processes.start(log(n), List.of("replicate", "--api", api(n), "--role", "server", "--peers", peers, "--id",
            Integer.toString(n), "--dir", directory(n).toString(), "--election", "500", "--property", KEEPALIVE));
    }

    private String api(final int n) {
        return BINDINGS.get((firstBinding + n) % BINDINGS.size());
    }

    /** A server that knows the leader has rejoined. */
    private void awaitRejoined(final int n) throws IOException, InterruptedException {
        processes.awaitLine(log(n), "the leader is server-");
    }

    private Process startClient(final int n, final int seconds) throws IOException {
        return processes.start("client-" + n, List.of("replicate", "--api", api(n), "--role", "client", "--peers", peers,
            "--acknowledged", acknowledged(n), "--window", "4", "--every", EVERY_MS, "--seconds", Integer.toString(seconds),
            "--property", KEEPALIVE));
    }

    /** The server that most servers have named last. */
    private int leader() throws IOException {
        final int[] named = new int[SERVERS];
        for (int n = 0; n < SERVERS; n++) {
            final List<MatchResult> names = LEADER.matcher(processes.log(log(n))).results().toList();
            if (!names.isEmpty()) {
                named[Integer.parseInt(names.getLast().group(1))]++;
            }
        }
        return IntStream.range(0, SERVERS).reduce((a, b) -> named[b] > named[a] ? b : a).orElseThrow();
    }

    private long acknowledgedSoFar() throws IOException {
        final Path file = Path.of(acknowledged(1));
        return Files.exists(file) ? Files.size(file) / ENTRY_BYTES : 0;
    }

    private void awaitAcknowledged(final long count) throws IOException, InterruptedException {
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
        while (acknowledgedSoFar() < count) {
            assertTrue(System.nanoTime() < deadline, () -> "the client has stopped at " + count);
            Thread.sleep(10);
        }
    }

    private String log(final int n) {
        return "server-" + n + "-" + starts[n];
    }

    private Path directory(final int n) {
        return folder.resolve("data-" + n);
    }

    private String acknowledged(final int n) {
        return folder.resolve("acknowledged-" + n).toString();
    }
}
