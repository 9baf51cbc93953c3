package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.retry.RetryPolicy;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client of a group that has lost two of three servers, and so its leader. The engine's client retries without a pause by
 * default, and takes another server at random each time.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class RetriesWithoutLeaderTest {
    private static final int SERVERS = 3;
    private static final int WAIT_MS = 60_000;
    private static final int COUNTED_MS = 2_000;
    private static final TimeDuration ELECTION_MIN = TimeDuration.valueOf(500, TimeUnit.MILLISECONDS);
    private static final TimeDuration ELECTION_MAX = TimeDuration.valueOf(1, TimeUnit.SECONDS);
    /** The delay between connects doubles from 10 to 500 ms: about 20 to two servers, in the time of this test. */
    private static final int FAILED_CONNECTS = 100;

    @TempDir
    private Path folder;
    private final List<RaftPeer> peers = new ArrayList<>();
    private final List<RaftServer> servers = new ArrayList<>();
    private RaftGroup group;
    private RaftClient client;
    /** Attempts to servers that are not reached. */
    private final AtomicLong unreached = new AtomicLong();

    @BeforeEach
    void start() throws IOException {
        for (int i = 0; i < SERVERS; i++) {
            peers.add(RaftPeer.newBuilder().setId("retried-s" + i)
                .setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        for (final RaftPeer peer : peers) {
            servers.add(start(peer, RaftStorage.StartupOption.FORMAT));
        }
        final RetryPolicy counting = event -> {
            if (event.getCause() instanceof ConnectException) {
                unreached.incrementAndGet();
            }
            return RetryPolicies.retryForeverNoSleep().handleAttemptFailure(event);
        };
        client = RaftClient.newBuilder().setProperties(properties()).setRaftGroup(group).setRetryPolicy(counting).build();
    }

    private static RaftProperties properties() {
        final RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        return properties;
    }

    private RaftServer start(final RaftPeer peer, final RaftStorage.StartupOption option) throws IOException {
        final RaftProperties properties = properties();
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve(peer.getId().toString()).toFile()));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ELECTION_MIN);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ELECTION_MAX);
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, ELECTION_MIN);
        final RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties).setGroup(group)
            .setOption(option).setStateMachine(new BaseStateMachine()).build();
        server.start();
        return server;
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        for (final RaftServer server : servers) {
            server.close();
        }
    }

    @Test
    void shouldRarelyAttemptToReachStoppedServersByAsynchronousRequests() throws Exception {
        requireFewAttempts(() -> client.async().send(Message.valueOf("without a leader")));
    }

    @Test
    void shouldRarelyAttemptToReachStoppedServersByBlockingRequests() throws Exception {
        requireFewAttempts(() -> CompletableFuture.supplyAsync(() -> {
            try {
                return client.io().send(Message.valueOf("without a leader"));
            } catch (final IOException e) {
                throw new CompletionException(e);
            }
        }));
    }

    private void requireFewAttempts(final Supplier<CompletableFuture<RaftClientReply>> request) throws Exception {
        require(client.async().send(Message.valueOf("with a leader")));
        loseMajority();
        final CompletableFuture<RaftClientReply> reply = request.get();
        await(() -> unreached.get() > SERVERS);
        final long startNs = System.nanoTime();
        final long before = unreached.get();
        TimeUnit.MILLISECONDS.sleep(COUNTED_MS);
        final long attempts = unreached.get() - before;
        final long countedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        final long failedConnects = ((RdmaClientRpc) client.getClientRpc()).counters().value(Count.CONNECTS_FAILED);
        servers.add(start(peers.get(1), RaftStorage.StartupOption.RECOVER));
        require(reply);
        // It pauses after each.
        final long most = countedMs / RdmaClientRpc.UNREACHED_PAUSE_MS + 1;
        assertTrue(attempts > 0 && attempts <= most, attempts + " attempts, at most " + most);
        assertTrue(failedConnects > 0 && failedConnects < FAILED_CONNECTS, failedConnects + " failed connects");
    }

    /** Stops all servers but the first, and waits until that one does not lead. */
    private void loseMajority() throws Exception {
        while (servers.size() > 1) {
            servers.removeLast().close();
        }
        final RaftServer remaining = servers.getFirst();
        await(() -> {
            try {
                return !remaining.getDivision(group.getGroupId()).getInfo().isLeader();
            } catch (final IOException e) {
                throw new CompletionException(e);
            }
        });
    }

    private static void await(final Supplier<Boolean> condition) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.get()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(WAIT_MS), "not in time");
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static void require(final CompletableFuture<RaftClientReply> reply) throws Exception {
        assertTrue(reply.get(WAIT_MS, TimeUnit.MILLISECONDS).isSuccess());
    }
}
