package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.CRC32C;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.ReplicationLevel;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
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

/** Three servers and a client of the engine with every kind of request over this transport and its bindings. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class RdmaClusterTest {
    private static final int SERVERS = 3;
    private static final int WAIT_MS = 60_000;
    /** A server resigns, too, if its JVM pauses for this time. */
    private static final TimeDuration ELECTION_MIN = TimeDuration.valueOf(2, TimeUnit.SECONDS);
    /** A leader resigns if no follower has replied for this time, which a busy machine must not cause. */
    private static final TimeDuration ELECTION_MAX = TimeDuration.valueOf(5, TimeUnit.SECONDS);
    /**
     * A leader that has resigned does not become a candidate for this time. With one of three servers stopped, it may be the only
     * one with a complete log: the others cannot replace it meanwhile. The engine's default is 10 seconds.
     */
    private static final TimeDuration RESIGNED = TimeDuration.valueOf(500, TimeUnit.MILLISECONDS);

    /**
     * The engine's client sends a request again after its time-out, even the removal of a group: the second one finds none. The
     * engine's default is 3 seconds, and a busy machine may need longer.
     */
    private static final TimeDuration REQUEST = TimeDuration.valueOf(WAIT_MS, TimeUnit.MILLISECONDS);

    @Parameter
    private Bindings bindings;
    @TempDir
    private Path folder;
    private final List<RaftServer> servers = new ArrayList<>();
    private final Map<RaftPeerId, Machine> machines = new ConcurrentHashMap<>();
    private RaftGroup group;
    private RaftClient client;

    /** The bindings of the servers and of the client. */
    private enum Bindings {
        RPMA(RdmaApi.RPMA, RdmaApi.RPMA),
        VERBS(RdmaApi.VERBS, RdmaApi.VERBS),
        /** Each server has a neighbour with the other binding, and so has the client. */
        MIXED(RdmaApi.RPMA, RdmaApi.VERBS);

        private final RdmaApi even;
        private final RdmaApi odd;

        Bindings(final RdmaApi even, final RdmaApi odd) {
            this.even = even;
            this.odd = odd;
        }

        RdmaApi of(final int node) {
            return node % 2 == 0 ? even : odd;
        }
    }

    /** Replies to a read with its content, and sums up the content of all writes. */
    private static final class Machine extends BaseStateMachine {
        private final CRC32C sum = new CRC32C();

        @Override
        public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
            synchronized (sum) {
                sum.update(transaction.getLogEntry().getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
            }
            return super.applyTransaction(transaction);
        }

        long sum() {
            synchronized (sum) {
                return sum.getValue();
            }
        }

        @Override
        public CompletableFuture<Message> query(final Message request) {
            return CompletableFuture.completedFuture(Message.valueOf(request.getContent().toStringUtf8() + "?"));
        }
    }

    @BeforeEach
    void start() throws IOException {
        final List<RaftPeer> peers = new ArrayList<>();
        final List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            ports.add(Integer.parseInt(ConnectedPair.anyPort()));
            peers.add(RaftPeer.newBuilder().setId("cluster-s" + i).setAddress(TestDevice.address() + ":" + ports.get(i)).build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        for (int i = 0; i < SERVERS; i++) {
            final RaftProperties properties = properties(i);
            RdmaConfigKeys.setServerHost(properties, TestDevice.address());
            RdmaConfigKeys.setServerPort(properties, ports.get(i));
            properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
            RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve("s" + i).toFile()));
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ELECTION_MIN);
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ELECTION_MAX);
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, ELECTION_MIN.multiply(0.2));
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, ELECTION_MAX.multiply(0.2));
            RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, RESIGNED);
            RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
            RaftServerConfigKeys.Watch.setTimeout(properties, REQUEST);
            final RaftPeerId id = peers.get(i).getId();
            final RaftServer server = RaftServer.newBuilder().setServerId(id).setProperties(properties).setGroup(group)
                .setStateMachineRegistry(of -> of.equals(group.getGroupId()) ?
                    machines.computeIfAbsent(id, each -> new Machine()) : new Machine()).build();
            server.start();
            servers.add(server);
        }
        final RaftProperties properties = properties(SERVERS);
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, REQUEST);
        RaftClientConfigKeys.Rpc.setWatchRequestTimeout(properties, REQUEST);
        client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group).build();
    }

    private RaftProperties properties(final int node) {
        final RaftProperties properties = new RaftProperties();
        RdmaConfigKeys.setApi(properties, bindings.of(node).toString());
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        return properties;
    }

    @AfterEach
    void stop() throws IOException, InterruptedException {
        client.close();
        for (final RaftServer server : servers) {
            server.close();
        }
        // A request thread may end a moment after its executor.
        final long startNs = System.nanoTime();
        while (threads("cluster-s") > 0) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(WAIT_MS), "threads of servers");
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static long threads(final String name) {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith(name) && thread.getName().contains("-rdma")).count();
    }

    /** Waits for a reply; fails with the stacks of all threads if there is none in time. */
    private static RaftClientReply reply(final CompletableFuture<RaftClientReply> reply) throws Exception {
        try {
            return reply.get(WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (final TimeoutException late) {
            final StringBuilder stacks = new StringBuilder("no reply in ").append(WAIT_MS).append(" ms");
            Thread.getAllStackTraces().forEach((thread, frames) -> {
                stacks.append('\n').append(thread.getName()).append(' ').append(thread.getState());
                for (final StackTraceElement frame : frames) {
                    stacks.append("\n    ").append(frame);
                }
            });
            throw new AssertionError(stacks.toString(), late);
        }
    }

    private static Message message(final String text) {
        return Message.valueOf(text);
    }

    private static String text(final RaftClientReply reply) {
        assertTrue(reply.isSuccess(), reply.toString());
        return reply.getMessage().getContent().toStringUtf8();
    }

    private RaftPeerId leader() throws IOException {
        return RaftPeerId.valueOf(client.io().send(message("who leads?")).getReplierId());
    }

    private RaftPeerId follower() throws IOException {
        final RaftPeerId leader = leader();
        return group.getPeers().stream().map(RaftPeer::getId).filter(id -> !id.equals(leader)).findFirst().orElseThrow();
    }

    @Test
    void shouldReplicateWritesAndServeReads() throws Exception {
        final String longText = "x".repeat(1 << 20);
        assertEquals(longText, text(client.io().send(message(longText))));
        final List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            replies.add(client.async().send(message("write " + i)));
        }
        long lastIndex = 0;
        for (int i = 0; i < replies.size(); i++) {
            final RaftClientReply reply = reply(replies.get(i));
            assertEquals("write " + i, text(reply));
            assertTrue(reply.getLogIndex() > lastIndex, "the order of the log");
            lastIndex = reply.getLogIndex();
        }
        assertEquals("two?", text(client.io().sendReadOnly(message("two"))));
        // A follower first asks the leader.
        assertEquals("three?", text(client.io().sendReadOnly(message("three"), follower())));
        assertEquals("four?", text(reply(client.async().sendReadOnlyUnordered(message("four")))));
        assertTrue(client.io().watch(lastIndex, ReplicationLevel.ALL).isSuccess());
        for (final RaftServer server : servers) {
            assertTrue(((RdmaServerRpc) server.getServerRpc()).counters().value(Count.FRAMES_RECEIVED) > 0);
        }
        assertTrue(((RdmaClientRpc) client.getClientRpc()).counters().value(Count.FRAMES_SENT) > 100);
        assertEquals(0, Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().matches("cluster-s\\d-rdma-poller")).count(), "one poller for all, by default");
        client.close();
        assertThrows(IOException.class, () -> client.io().send(message("too late")));
    }

    @Test
    void shouldReplicateEqualBytesOfAllLengthsUnderEachLeader() throws Exception {
        final CRC32C expected = new CRC32C();
        long lastIndex = client.io().send(message("")).getLogIndex();
        for (final RaftPeer leader : group.getPeers()) {
            assertTrue(client.admin().transferLeadership(leader.getId(), WAIT_MS).isSuccess());
            final List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
            for (final int bytes : new int[] {0, 1, 100, 5_000, 70_000, 1 << 20, 300_000, 1 << 20, 10}) {
                final byte[] content = new byte[bytes];
                new Random(bytes).nextBytes(content);
                expected.update(content);
                replies.add(client.async().send(Message.valueOf(ByteString.copyFrom(content))));
            }
            for (final CompletableFuture<RaftClientReply> each : replies) {
                final RaftClientReply reply = reply(each);
                assertTrue(reply.isSuccess(), reply.toString());
                assertEquals(leader.getId(), RaftPeerId.valueOf(reply.getReplierId()));
                assertTrue(reply.getLogIndex() > lastIndex, "the order of the log");
                lastIndex = reply.getLogIndex();
            }
        }
        final long startNs = System.nanoTime();
        for (final Map.Entry<RaftPeerId, Machine> server : machines.entrySet()) {
            while (server.getValue().sum() != expected.getValue()) {
                assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(WAIT_MS), "bytes of " + server.getKey());
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        assertEquals(SERVERS, machines.size());
    }

    @Test
    void shouldServeAdministrativeRequests() throws Exception {
        final RaftPeerId leader = leader();
        final RaftPeerId follower = follower();
        assertEquals(List.of(group.getGroupId()), client.getGroupManagementApi(follower).list().getGroupIds());
        assertEquals(group.getGroupId(),
            client.getGroupManagementApi(follower).info(group.getGroupId()).getGroup().getGroupId());
        assertTrue(client.getSnapshotManagementApi(leader).create(true, WAIT_MS).isSuccess());
        assertTrue(client.getLeaderElectionManagementApi(follower).pause().isSuccess());
        assertTrue(client.getLeaderElectionManagementApi(follower).resume().isSuccess());
        final RaftGroup another = RaftGroup.valueOf(RaftGroupId.randomId(), group.getPeer(follower));
        assertTrue(client.getGroupManagementApi(follower).add(another).isSuccess());
        assertEquals(2, client.getGroupManagementApi(follower).list().getGroupIds().size());
        assertTrue(client.getGroupManagementApi(follower).remove(another.getGroupId(), true, false).isSuccess());
        assertTrue(client.admin().setConfiguration(List.copyOf(group.getPeers())).isSuccess());
        assertTrue(client.admin().transferLeadership(follower, WAIT_MS).isSuccess());
        assertEquals(follower, leader());
    }

    @Test
    void shouldContinueWithoutAStoppedServer() throws Exception {
        final RaftClientReply before = client.io().send(message("before"));
        // Two of three servers commit it, and a candidate with committed entries counts no vote of a server with an empty log: if
        // one of each kind remained, neither would ever become the leader.
        assertTrue(client.io().watch(before.getLogIndex(), ReplicationLevel.ALL).isSuccess());
        final RaftPeerId leader = leader();
        for (final RaftServer server : servers) {
            if (server.getId().equals(leader)) {
                server.close();
            }
        }
        // A blocking request would fail with the end of the connection, as with the engine's own transports.
        assertEquals("after", text(reply(client.async().send(message("after")))));
        assertNotEquals(leader, leader());
    }
}
