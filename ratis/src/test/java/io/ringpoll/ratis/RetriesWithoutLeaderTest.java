package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.netty.NettyConfigKeys;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.retry.RetryPolicy;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client while its group has no leader, beside one of the engine's Netty transport. By default the engine's client retries
 * without a pause, with any transport, and takes another server at random each time.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class RetriesWithoutLeaderTest {
    private static final int SERVERS = 3;
    private static final int WAIT_MS = 60_000;
    private static final int COUNTED_MS = 2_000;
    private static final TimeDuration ELECTION_MIN = TimeDuration.valueOf(500, TimeUnit.MILLISECONDS);
    private static final TimeDuration ELECTION_MAX = TimeDuration.valueOf(1, TimeUnit.SECONDS);
    /** Netty's client learns only by this time-out that a connection has ended before its request. */
    private static final TimeDuration REQUEST = TimeDuration.valueOf(500, TimeUnit.MILLISECONDS);
    /** The delay between connects doubles from 10 to 500 ms: about 20 to two servers, in the time of this test. */
    private static final int FAILED_CONNECTS = 100;

    @TempDir
    private Path folder;

    /** Attempts of a client in {@link #COUNTED_MS}, and its failed connects since its start (of this transport only). */
    private record Retries(long attempts, long failedConnects) {
    }

    /** Three servers in this process. */
    private final class Cluster implements AutoCloseable {
        private final boolean rdma;
        private final List<RaftPeer> peers = new ArrayList<>();
        private final List<RaftServer> servers = new ArrayList<>();
        private final RaftGroup group;

        Cluster(final boolean rdma) throws IOException {
            this.rdma = rdma;
            for (int i = 0; i < SERVERS; i++) {
                peers.add(RaftPeer.newBuilder().setId("retried-s" + i).setAddress(host() + ":" + freePort()).build());
            }
            group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
            for (final RaftPeer peer : peers) {
                servers.add(start(peer, RaftStorage.StartupOption.FORMAT));
            }
        }

        private String host() {
            return rdma ? TestDevice.address() : InetAddress.getLoopbackAddress().getHostAddress();
        }

        private int freePort() throws IOException {
            if (rdma) {
                return Integer.parseInt(ConnectedPair.anyPort());
            }
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            }
        }

        private RaftProperties properties() {
            final RaftProperties properties = new RaftProperties();
            RaftConfigKeys.Rpc.setType(properties, rdma ? new RdmaRpcType() : SupportedRpcType.NETTY);
            RaftClientConfigKeys.Rpc.setRequestTimeout(properties, REQUEST);
            return properties;
        }

        private RaftServer start(final RaftPeer peer, final RaftStorage.StartupOption option) throws IOException {
            final RaftProperties properties = properties();
            final int port = Integer.parseInt(peer.getAddress().substring(peer.getAddress().lastIndexOf(':') + 1));
            if (rdma) {
                properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
            } else {
                NettyConfigKeys.Server.setHost(properties, host());
                NettyConfigKeys.Server.setPort(properties, port);
            }
            RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve(group.getGroupId() + "-" + port).toFile()));
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ELECTION_MIN);
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ELECTION_MAX);
            RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, ELECTION_MIN);
            final RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties)
                .setGroup(group).setOption(option).setStateMachine(new BaseStateMachine()).build();
            server.start();
            return server;
        }

        /** Stops all servers but the first, and waits until that one does not lead. */
        void loseMajority() throws Exception {
            while (servers.size() > 1) {
                servers.removeLast().close();
            }
            final long startNs = System.nanoTime();
            while (servers.getFirst().getDivision(group.getGroupId()).getInfo().isLeader()) {
                assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(WAIT_MS), "it still leads");
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }

        void regainMajority() throws IOException {
            servers.add(start(peers.get(1), RaftStorage.StartupOption.RECOVER));
        }

        @Override
        public void close() throws IOException {
            for (final RaftServer server : servers) {
                server.close();
            }
        }
    }

    private Retries retriesWithoutLeader(final boolean rdma) throws Exception {
        final AtomicLong attempts = new AtomicLong();
        final RetryPolicy counting = event -> {
            attempts.incrementAndGet();
            return RetryPolicies.retryForeverNoSleep().handleAttemptFailure(event);
        };
        try (Cluster cluster = new Cluster(rdma);
            RaftClient client = RaftClient.newBuilder().setProperties(cluster.properties()).setRaftGroup(cluster.group)
                .setRetryPolicy(counting).build()) {
            require(client.async().send(Message.valueOf("with a leader")));
            cluster.loseMajority();
            final CompletableFuture<RaftClientReply> reply = client.async().send(Message.valueOf("without one"));
            // The first attempts notice the ended connections.
            TimeUnit.MILLISECONDS.sleep(2 * REQUEST.toLong(TimeUnit.MILLISECONDS));
            final long before = attempts.get();
            TimeUnit.MILLISECONDS.sleep(COUNTED_MS);
            final long counted = attempts.get() - before;
            final long failedConnects =
                rdma ? ((RdmaClientRpc) client.getClientRpc()).counters().value(Count.CONNECTS_FAILED) : 0;
            cluster.regainMajority();
            require(reply);
            return new Retries(counted, failedConnects);
        }
    }

    private static void require(final CompletableFuture<RaftClientReply> reply) throws Exception {
        assertTrue(reply.get(WAIT_MS, TimeUnit.MILLISECONDS).isSuccess());
    }

    @Test
    void shouldRetryNoMoreOftenThanTwiceNettysClientAndConnectRarely() throws Exception {
        final Retries netty = retriesWithoutLeader(false);
        final Retries rdma = retriesWithoutLeader(true);
        final String both = rdma + ", Netty: " + netty;
        assertTrue(rdma.attempts > 0 && rdma.attempts <= 2 * netty.attempts, both);
        assertTrue(rdma.failedConnects > 0 && rdma.failedConnects < FAILED_CONNECTS, both);
    }
}
