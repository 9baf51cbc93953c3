package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.options.Execution;
import io.ringpoll.ratis.RdmaConfigKeys;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RolesTest {
    private static final String HOST = "127.0.0.1";
    private static final Contestant SHARING =
        Contestant.of(Transport.RINGPOLL, Map.of(RdmaConfigKeys.POLLER_SHARED_KEY, "true"));

    @TempDir
    private Path folder;

    @Test
    void shouldReadBackWhatAClientWasTold() throws Exception {
        final Path acknowledged = folder.resolve("acknowledged");
        final List<String> peers = List.of(HOST + ":" + freePort(), HOST + ":" + freePort(), HOST + ":" + freePort());
        final List<String> folders = new ArrayList<>();
        final List<RaftServer> servers = new ArrayList<>();
        try {
            for (int i = 0; i < peers.size(); i++) {
                final RoleOptions server = options(RoleOptions.Role.SERVER, peers);
                server.id = i;
                server.electionMs = 300;
                server.folder = Files.createDirectory(folder.resolve("server-" + i));
                folders.add(server.folder.toString());
                servers.add(new ServerRole(server, SHARING).start(new PrintWriter(new StringWriter())));
            }
            final RoleOptions client = options(RoleOptions.Role.CLIENT, peers);
            client.acknowledged = acknowledged;
            final StringWriter said = new StringWriter();
            new ClientRole(client, SHARING, 100, 4, TimeUnit.MILLISECONDS.toNanos(500)).run(new PrintWriter(said));
            assertTrue(said.toString().contains("longest pause"), said.toString());
            assertEquals(1, Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("shared-rdma-\\d+-poller")).count(), "settings of a role");
        } finally {
            for (final RaftServer server : servers) {
                server.close();
            }
        }
        assertTrue(Acknowledgements.read(acknowledged).size() > 0);
        final StringWriter found = new StringWriter();
        assertEquals(0, verify(acknowledged, folders, found), found.toString());
        // One server's log alone is no majority of three.
        assertEquals(1, verify(acknowledged, List.of(folders.get(0), emptyLog("a"), emptyLog("b")), found));
        assertTrue(found.toString().contains("was acknowledged and is not on 2 of 3 servers"), found.toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--role=server --dir=x | --peers is IP:PORT for each server, separated by commas",
        "--role=server --dir=x --peers=a:1,a:1 | --peers is IP:PORT for each server, separated by commas",
        "--role=server --dir=x --peers=a:1,b --id=0 | --peers is IP:PORT for each server, separated by commas",
        "--role=server --dir=x --peers=a:1,b:1 --id=2 | --id is 0 to 1",
        "--role=server --peers=a:1 | --role server needs --dir",
        "--role=client --peers=a:1 | --role client needs --acknowledged",
        "--dir=x | --peers, --id, --dir, --acknowledged, --every and --election are for --role server or --role client",
        "--id=0 | --peers, --id, --dir, --acknowledged, --every and --election are for --role server or --role client"
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String arguments, final String message) {
        final StringWriter said = new StringWriter();
        final CommandLine line =
            Execution.commandLine(new ReplicateCommand()).setCaseInsensitiveEnumValuesAllowed(true);
        line.setErr(new PrintWriter(said, true));
        assertEquals(2, line.execute(arguments.split(" ")));
        assertEquals("ringpoll replicate: " + message, said.toString().strip());
    }

    private int verify(final Path acknowledged, final List<String> folders, final StringWriter found) {
        final List<String> arguments = new ArrayList<>(List.of("verify", "--acknowledged", acknowledged.toString()));
        arguments.addAll(folders);
        final CommandLine line = Execution.commandLine(new ReplicateCommand());
        line.setOut(new PrintWriter(found));
        return line.execute(arguments.toArray(String[]::new));
    }

    /** The log of a server that nothing has reached. */
    private String emptyLog(final String name) throws Exception {
        final RoleOptions server = options(RoleOptions.Role.SERVER, List.of(HOST + ":" + freePort(), HOST + ":" + freePort()));
        server.folder = Files.createDirectory(folder.resolve(name));
        server.electionMs = 60_000;
        new ServerRole(server, Contestant.of(Transport.NETTY, Map.of())).start(new PrintWriter(new StringWriter())).close();
        return server.folder.toString();
    }

    private static RoleOptions options(final RoleOptions.Role role, final List<String> peers) {
        final RoleOptions options = new RoleOptions();
        options.role = role;
        options.peers = peers;
        return options;
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        }
    }
}
