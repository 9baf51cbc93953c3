package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.ratis.RdmaConfigKeys;
import io.ringpoll.testing.ConnectedPair;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.statemachine.StateMachine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RolesTest {
    private static final String HOST = "127.0.0.1";
    private static final Contestant UNSHARED =
        Contestant.of(Transport.RINGPOLL, Map.of(RdmaConfigKeys.POLLER_SHARED_KEY, "false"));

    @TempDir
    private Path folder;

    @Test
    void shouldVerifyTheAcknowledgedRecordsOfAClient() throws Exception {
        final Path acknowledged = folder.resolve("acknowledged");
        final List<String> peers = Stream.generate(() -> HOST + ":" + ConnectedPair.anyPort()).limit(3).toList();
        final List<Path> folders = new ArrayList<>();
        final List<RaftServer> servers = new ArrayList<>();
        try {
            for (int i = 0; i < peers.size(); i++) {
                final RoleConfig server =
                    new RoleConfig(peers, i, Files.createDirectory(folder.resolve("server-" + i)), null, 0, 300);
                folders.add(server.folder());
                servers.add(new ServerRole(server, UNSHARED).start(new PrintWriter(new StringWriter())));
            }
            final RoleConfig client = new RoleConfig(peers, 0, null, acknowledged, 0, 1000);
            final StringWriter said = new StringWriter();
            final ReplicateConfig load =
                new ReplicateConfig(HOST, 20, 20_000, 4, 0, TimeUnit.MILLISECONDS.toNanos(500), false, false);
            new ClientRole(client, UNSHARED, load, null).run(new PrintWriter(said));
            assertTrue(said.toString().contains("longest pause"), said.toString());
            assertEquals(peers.size(), Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("server-\\d-rdma-poller")).count(), "settings of a role");
        } finally {
            for (final RaftServer server : servers) {
                server.close();
            }
        }
        assertTrue(Acknowledgements.read(acknowledged).size() > 0);
        final StringWriter found = new StringWriter();
        assertTrue(verify(acknowledged, folders, found), found.toString());
        // The log of a single server is no majority of three.
        assertFalse(verify(acknowledged, List.of(folders.get(0), emptyLog("a"), emptyLog("b")), found));
        assertTrue(found.toString().contains("was acknowledged and is not on 2 of 3 servers"), found.toString());
    }

    /** Of a server whose log has failed, the engine closes the division alone. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndAServerThatTheEngineHasClosed(final boolean isWhole) throws Exception {
        final RoleConfig config = new RoleConfig(List.of(HOST + ":" + freePort()), 0, folder, null, 0, 60_000);
        final PrintWriter out = new PrintWriter(new StringWriter());
        final ServerRole role = new ServerRole(config, Contestant.of(Transport.NETTY, Map.of()));
        final RaftServer server = role.start(out);
        final FutureTask<Void> serving = new FutureTask<>(() -> {
            role.serve(server, out, Long.MAX_VALUE);
            return null;
        });
        Thread.ofPlatform().daemon().start(serving);
        if (isWhole) {
            server.close();
        } else {
            server.getDivision(config.group().getGroupId()).close();
        }
        final Throwable failure =
            assertThrows(ExecutionException.class, () -> serving.get(30, TimeUnit.SECONDS)).getCause();
        assertTrue(failure.getMessage().startsWith("Apache Ratis has closed server 0"), failure::toString);
    }

    /** For instance, because the disk is full: the engine keeps such a server, which answers heartbeats and stores nothing. */
    @Test
    void shouldEndAServerThatCannotWriteItsLog() throws Exception {
        final RoleConfig config = new RoleConfig(List.of(HOST + ":" + freePort()), 0, folder, null, 0, 60_000);
        final PrintWriter out = new PrintWriter(new StringWriter());
        final ServerRole role = new ServerRole(config, Contestant.of(Transport.NETTY, Map.of()));
        final RaftServer server = role.start(out);
        final StateMachine.EventApi events = server.getDivision(config.group().getGroupId()).getStateMachine().event();
        events.notifyLogFailed(new IOException("No space left on device"), null);
        events.notifyLogFailed(new IOException("Log already failed at index 7"), null);
        assertEquals("server 0 cannot write its log in " + folder + ": No space left on device; free some space there, or" +
            " repair the disk, and start it again",
            assertThrows(IOException.class, () -> role.serve(server, out, Long.MAX_VALUE)).getMessage());
        assertTrue(server.getLifeCycleState().isClosingOrClosed());
    }

    @Test
    void shouldNameTheRemedyForAPortInUse() throws Exception {
        final PrintWriter out = new PrintWriter(new StringWriter());
        final String address = HOST + ":" + ConnectedPair.anyPort();
        final RoleConfig first =
            new RoleConfig(List.of(address), 0, Files.createDirectory(folder.resolve("first")), null, 0, 60_000);
        final RoleConfig second =
            new RoleConfig(List.of(address), 0, Files.createDirectory(folder.resolve("second")), null, 0, 60_000);
        try (RaftServer server = new ServerRole(first, UNSHARED).start(out)) {
            assertEquals("server 0 cannot listen on " + address + ": the port is in use; end the process that uses it, or" +
                " choose another port, in --peers of all processes",
                assertThrows(IOException.class, () -> new ServerRole(second, UNSHARED).start(out)).getMessage());
            assertEquals("server-0", server.getId().toString());
        }
    }

    @Test
    void shouldNameTheFolderThatAnotherServerUses() throws Exception {
        final Contestant netty = Contestant.of(Transport.NETTY, Map.of());
        final PrintWriter out = new PrintWriter(new StringWriter());
        final RoleConfig config = new RoleConfig(List.of(HOST + ":" + freePort()), 0, folder, null, 0, 60_000);
        final RoleConfig second = new RoleConfig(List.of(HOST + ":" + freePort()), 0, folder, null, 0, 60_000);
        try (RaftServer first = new ServerRole(config, netty).start(out)) {
            final String message =
                assertThrows(IOException.class, () -> new ServerRole(second, netty).start(out)).getMessage();
            assertTrue(message.startsWith("server 0 cannot start: ") &&
                message.endsWith("; another server may use " + folder + ": end it, or use another folder"), message);
            assertTrue(first.getId().toString().equals("server-0"));
        }
    }

    private static boolean verify(final Path acknowledged, final List<Path> folders, final StringWriter found)
        throws IOException {
        return LogCheck.run(folders, List.of(acknowledged), new PrintWriter(found, true));
    }

    /** The log of a server that has received nothing. */
    private Path emptyLog(final String name) throws Exception {
        final RoleConfig server = new RoleConfig(List.of(HOST + ":" + freePort(), HOST + ":" + freePort()), 0,
            Files.createDirectory(folder.resolve(name)), null, 0, 60_000);
        new ServerRole(server, Contestant.of(Transport.NETTY, Map.of())).start(new PrintWriter(new StringWriter())).close();
        return server.folder();
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        }
    }
}
