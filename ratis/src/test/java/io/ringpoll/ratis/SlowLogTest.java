package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.RaftLogBase;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.util.AutoCloseableLock;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A leader with a log that waits, as during a slow write: its lock is held. Replies of followers must not wait for it on the
 * thread that serves all connections.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class SlowLogTest {
    private static final int SERVERS = 3;
    private static final String APPEND_ENTRIES = "RaftServerImpl.appendEntries";
    /** Longer than the test: a leader must not lose its leadership while its log waits. */
    private static final TimeDuration NO_ELECTION = TimeDuration.valueOf(100, TimeUnit.SECONDS);

    /** Longer than {@link io.ringpoll.internal.transport.NoWaitsExtension} permits. */
    private static final Duration SLOW_WRITE = Duration.ofSeconds(2);
    /** If requests wait for it, they are answered after this time. */
    private static final Duration LONGEST_WRITE = Duration.ofSeconds(40);
    private static final int ANSWERS = 25;

    @Parameter
    private RdmaApi api;
    @TempDir
    private Path folder;
    private final List<RaftServer> servers = new ArrayList<>();
    private RaftGroup group;
    private RaftClient client;

    @BeforeEach
    void start() throws IOException {
        final List<RaftPeer> peers = new ArrayList<>();
        final List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            ports.add(Integer.parseInt(ConnectedPair.anyPort()));
            peers.add(RaftPeer.newBuilder().setId("slow-s" + i).setAddress(TestDevice.address() + ":" + ports.get(i)).build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        for (int i = 0; i < SERVERS; i++) {
            final RaftProperties properties = properties();
            RdmaConfigKeys.setServerHost(properties, TestDevice.address());
            RdmaConfigKeys.setServerPort(properties, ports.get(i));
            properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
            RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve("s" + i).toFile()));
            if (i > 0) {
                RaftServerConfigKeys.Rpc.setTimeoutMin(properties, NO_ELECTION);
                RaftServerConfigKeys.Rpc.setTimeoutMax(properties, NO_ELECTION.multiply(2));
            } else {
                RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
                RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(60, TimeUnit.SECONDS));
                RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, TimeDuration.valueOf(100, TimeUnit.MILLISECONDS));
                RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, TimeDuration.valueOf(200, TimeUnit.MILLISECONDS));
            }
            final RaftServer server = RaftServer.newBuilder().setServerId(peers.get(i).getId()).setProperties(properties)
                .setGroup(group).setStateMachineRegistry(id -> new BaseStateMachine()).build();
            servers.add(server);
        }
        // The first one is started last: the others are running when it becomes a candidate.
        for (final RaftServer server : servers.reversed()) {
            server.start();
        }
        client = RaftClient.newBuilder().setProperties(properties()).setRaftGroup(group).build();
    }

    private RaftProperties properties() {
        final RaftProperties properties = TestProperties.patient();
        RdmaConfigKeys.setApi(properties, api.name());
        return properties;
    }

    @AfterEach
    void stop() throws IOException {
        CodeInjectionForTesting.remove(APPEND_ENTRIES);
        client.close();
        for (final RaftServer server : servers) {
            server.close();
        }
    }

    private CompletableFuture<RaftClientReply> write(final String text) {
        return client.async().send(Message.valueOf(text));
    }

    @Test
    void shouldServeOtherRequestsWhileTheLogOfTheLeaderWaits() throws Exception {
        assertTrue(write("first").get(60, TimeUnit.SECONDS).isSuccess());
        final RaftServer leader = servers.getFirst();
        final RaftPeerId leaderId = leader.getId();
        assertEquals(leaderId, RaftPeerId.valueOf(client.io().send(Message.valueOf("second")).getReplierId()));
        final CountDownLatch appending = new CountDownLatch(SERVERS - 1);
        final CountDownLatch unblocked = new CountDownLatch(1);
        CodeInjectionForTesting.put(APPEND_ENTRIES, (local, remote, args) -> {
            appending.countDown();
            Uninterruptibles.awaitUninterruptibly(unblocked);
            return true;
        });
        final CompletableFuture<RaftClientReply> written = write("third");
        appending.await();
        final RaftLogBase log = (RaftLogBase) leader.getDivision(group.getGroupId()).getRaftLog();
        final CountDownLatch locked = new CountDownLatch(1);
        final CountDownLatch unlock = new CountDownLatch(1);
        final CompletableFuture<Boolean> slowWrite = CompletableFuture.supplyAsync(() -> {
            try (AutoCloseableLock held = log.writeLock()) {
                locked.countDown();
                return Uninterruptibles.awaitUninterruptibly(unlock, LONGEST_WRITE);
            }
        });
        locked.await();
        // The followers' replies are processed while the log waits, and entries behind them must be sent.
        unblocked.countDown();
        final long endNs = System.nanoTime() + SLOW_WRITE.toNanos();
        for (int i = 0; i < ANSWERS || System.nanoTime() < endNs; i++) {
            assertEquals(1, client.getGroupManagementApi(leaderId).list().getGroupIds().size());
            TimeUnit.MILLISECONDS.sleep(20);
        }
        assertFalse(written.isDone());
        unlock.countDown();
        assertTrue(slowWrite.get(60, TimeUnit.SECONDS), "the answers came while the log waited");
        assertTrue(written.get(60, TimeUnit.SECONDS).isSuccess());
        assertTrue(write("fourth").get(60, TimeUnit.SECONDS).isSuccess());
    }
}
