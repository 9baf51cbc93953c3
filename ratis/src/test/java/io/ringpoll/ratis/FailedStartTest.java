package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server of the engine whose transport cannot start: nothing of it remains, and another one can be built for its storage. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FailedStartTest {
    private static final RaftPeerId ID = RaftPeerId.valueOf("failed-start-s0");
    /** The engine can leave a thread of its own if a group is closed at the moment in which an election begins or ends. */
    private static final TimeDuration NO_ELECTION = TimeDuration.valueOf(300, TimeUnit.SECONDS);

    @TempDir
    private Path folder;
    private final int port = Integer.parseInt(ConnectedPair.anyPort());
    private final RaftProperties properties = TestProperties.patient();

    /** The first of three servers; the others do not exist. */
    private RaftServer server(final StartupOption option) throws IOException {
        RdmaConfigKeys.setServerHost(properties, TestDevice.address());
        RdmaConfigKeys.setServerPort(properties, port);
        RdmaConfigKeys.setCountersFile(properties, false);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve("log").toFile()));
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, NO_ELECTION);
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, NO_ELECTION.multiply(2));
        final List<RaftPeer> peers = Stream.of(ID.toString(), "failed-start-x1", "failed-start-x2").map(id ->
            RaftPeer.newBuilder().setId(id).setAddress(TestDevice.address() + ":" + (id.equals(ID.toString()) ? port : 1))
                .build()).toList();
        return RaftServer.newBuilder().setServerId(ID).setProperties(properties).setOption(option)
            .setGroup(RaftGroup.valueOf(RaftGroupId.valueOf(new UUID(1, 1)), peers))
            .setStateMachineRegistry(id -> new BaseStateMachine()).build();
    }

    /**
     * Without the engine's threads that the transport cannot end: those for its start, which end after a minute, and the one for
     * groups, which ends with the server's object.
     */
    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
            .filter(name -> name.startsWith(ID.toString()) && !name.startsWith(ID + "-impl") &&
                !name.startsWith(ID + "-groupManagement")).toList();
    }

    private static void assertEnded() throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!threads().isEmpty()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), () -> threads().toString());
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private void assertStartsLater() throws Exception {
        try (RaftServer later = server(StartupOption.RECOVER)) {
            later.start();
            assertEquals(port, later.getServerRpc().getInetSocketAddress().getPort());
        }
        assertEnded();
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveNothingIfItsPortIsInUse(final RdmaApi api) throws Exception {
        RdmaConfigKeys.setApi(properties, api.name().toLowerCase(Locale.ROOT));
        try (RcPeer device = api.ofLocal(TestDevice.address());
            RcListener other = device.listen(TestDevice.address(), port)) {
            try (RaftServer server = server(StartupOption.FORMAT)) {
                final IOException failure = assertThrows(IOException.class, server::start);
                assertEquals(ID + " cannot listen on " + TestDevice.address() + ":" + port + ": the port is in use; end the" +
                    " process that uses it, or set another port in the address of the server in its group (RaftPeer.address)," +
                    " or with raft.rdma.server.port", failure.getMessage());
                assertEnded();
                // Its groups have ended: only another one can be started.
                assertThrows(IOException.class, server::start);
                assertEnded();
            }
        }
        assertStartsLater();
    }

    /** With one binding: no connection of either is made. */
    @Test
    void shouldLeaveNothingIfItsSecretIsLostBeforeTheStart() throws Exception {
        final File secret = folder.resolve("secret").toFile();
        Files.write(secret.toPath(), new byte[32]);
        Files.setPosixFilePermissions(secret.toPath(), PosixFilePermissions.fromString("rw-------"));
        RdmaConfigKeys.setSecretFile(properties, secret);
        try (RaftServer server = server(StartupOption.FORMAT)) {
            Files.delete(secret.toPath());
            final IOException failure = assertThrows(IOException.class, server::start);
            assertTrue(failure.getMessage().contains(RdmaConfigKeys.SECRET_FILE_KEY), failure::getMessage);
            assertEnded();
        }
        properties.unset(RdmaConfigKeys.SECRET_FILE_KEY);
        assertStartsLater();
    }

    /** The engine has not made its groups yet. With one binding, as above. */
    @Test
    void shouldLeaveNothingIfItIsNotBuilt() throws Exception {
        RdmaConfigKeys.setSecretFile(properties, folder.resolve("missing").toFile());
        assertThrows(Exception.class, () -> server(StartupOption.FORMAT));
        assertEnded();
        properties.unset(RdmaConfigKeys.SECRET_FILE_KEY);
        assertStartsLater();
    }
}
