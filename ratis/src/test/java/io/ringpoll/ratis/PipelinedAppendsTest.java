package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers of the engine, the first of which leads. A follower can be held: it takes entries, but does not process them
 * until it is released. About half of the tests are over each binding: a test of each over both would take twice the time.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class PipelinedAppendsTest {
    private static final int SERVERS = 3;
    private static final int WINDOW = 4;
    private static final int WAIT_S = 60;
    private static final int LONG_BYTES = 20_000;
    private static final SizeInBytes WINDOW_BYTES = SizeInBytes.valueOf("256KB");
    private static final String APPEND_ENTRIES = "RaftServerImpl.appendEntries";
    private static final TimeDuration NO_ELECTION = TimeDuration.valueOf(300, TimeUnit.SECONDS);

    @TempDir
    private Path folder;
    private final Map<RaftPeerId, RaftServer> servers = new LinkedHashMap<>();
    private final Map<RaftPeerId, List<String>> applied = new ConcurrentHashMap<>();
    private final Set<RaftPeerId> held = ConcurrentHashMap.newKeySet();
    private final CountDownLatch released = new CountDownLatch(1);
    /** Requests with entries to each follower, and their bytes; heartbeats that followers have processed. */
    private final ConcurrentMap<RaftPeerId, AtomicLong> sent = new ConcurrentHashMap<>();
    private final ConcurrentMap<RaftPeerId, AtomicLong> sentBytes = new ConcurrentHashMap<>();
    private final ConcurrentMap<RaftPeerId, AtomicLong> heartbeats = new ConcurrentHashMap<>();
    private TimeDuration requestTimeout = NO_ELECTION;
    private RdmaApi api;
    private RaftGroup group;
    private RaftClient client;

    /** Records what is applied. */
    private static final class Machine extends BaseStateMachine {
        private final List<String> applied;

        private Machine(final List<String> applied) {
            this.applied = applied;
        }

        @Override
        public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
            final LogEntryProto entry = transaction.getLogEntry();
            final ByteString content = entry.getStateMachineLogEntry().getLogData();
            applied.add(content.substring(0, Math.min(content.size(), 8)).toStringUtf8());
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            return CompletableFuture.completedFuture(Message.EMPTY);
        }
    }

    private void start(final RdmaApi binding) throws Exception {
        api = binding;
        final List<RaftPeer> peers = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            peers.add(RaftPeer.newBuilder().setId("append-s" + i)
                .setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        // The first one is started last: the others are running when it becomes a candidate.
        for (int i = SERVERS - 1; i >= 0; i--) {
            startServer(peers.get(i).getId(), i == 0, peers.get(i).getId().toString());
        }
        client = RaftClient.newBuilder().setProperties(properties()).setRaftGroup(group).setLeaderId(leaderId()).build();
        assertTrue(write("first").get(WAIT_S, TimeUnit.SECONDS).isSuccess());
        for (final RaftPeerId id : servers.keySet()) {
            await("the first entry at " + id, () -> applied.get(id).contains("first"));
        }
        CodeInjectionForTesting.put(RdmaServerRpc.SEND_SERVER_REQUEST, (local, remote, args) -> {
            if (args[0] instanceof final AppendEntriesRequestProto request && request.getEntriesCount() > 0) {
                final RaftPeerId follower = RaftPeerId.valueOf(request.getServerRequest().getReplyId());
                counter(sentBytes, follower).addAndGet(request.getSerializedSize());
                counter(sent, follower).incrementAndGet();
            }
            return true;
        });
        CodeInjectionForTesting.put(APPEND_ENTRIES, (local, remote, args) -> {
            final RaftPeerId follower = RaftPeerId.valueOf(local.toString());
            if (((AppendEntriesRequestProto) args[1]).getEntriesCount() == 0) {
                counter(heartbeats, follower).incrementAndGet();
            } else if (held.contains(follower)) {
                Uninterruptibles.awaitUninterruptibly(released);
            }
            return true;
        });
    }

    private static AtomicLong counter(final ConcurrentMap<RaftPeerId, AtomicLong> counters, final RaftPeerId id) {
        return counters.computeIfAbsent(id, key -> new AtomicLong());
    }

    private void startServer(final RaftPeerId id, final boolean isLeader, final String storage) throws IOException {
        final RaftProperties properties = properties();
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        RdmaAppendConfigKeys.setRequestsMax(properties, WINDOW);
        RdmaAppendConfigKeys.setBytesMax(properties, WINDOW_BYTES);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve(storage).toFile()));
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf("64KB"));
        RaftServerConfigKeys.Rpc.setRequestTimeout(properties, requestTimeout);
        if (isLeader) {
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(30, TimeUnit.SECONDS));
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, TimeDuration.valueOf(100, TimeUnit.MILLISECONDS));
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, TimeDuration.valueOf(200, TimeUnit.MILLISECONDS));
        } else {
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, NO_ELECTION);
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, NO_ELECTION.multiply(2));
        }
        // The engine applies the stored entries again.
        final List<String> contents = Collections.synchronizedList(new ArrayList<>());
        applied.put(id, contents);
        final RaftServer server = RaftServer.newBuilder().setServerId(id).setProperties(properties).setGroup(group)
            .setOption(StartupOption.FORMAT).setStateMachineRegistry(gid -> new Machine(contents)).build();
        server.start();
        servers.put(id, server);
    }

    private RaftProperties properties() {
        final RaftProperties properties = new RaftProperties();
        RdmaConfigKeys.setApi(properties, api.name());
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        return properties;
    }

    @AfterEach
    void stop() throws IOException {
        released.countDown();
        CodeInjectionForTesting.remove(APPEND_ENTRIES);
        CodeInjectionForTesting.remove(RdmaServerRpc.SEND_SERVER_REQUEST);
        client.close();
        for (final RaftServer server : servers.values()) {
            server.close();
        }
    }

    private RaftPeerId leaderId() {
        return peer(0);
    }

    private RaftPeerId peer(final int index) {
        return RaftPeerId.valueOf("append-s" + index);
    }

    private CompletableFuture<RaftClientReply> write(final String text) {
        return client.async().send(Message.valueOf(text));
    }

    /** Writes the numbers of a range, one by one, each when the leader has appended the one before. */
    private List<CompletableFuture<RaftClientReply>> write(final int from, final int to, final int bytes) throws Exception {
        final List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
        for (int i = from; i < to; i++) {
            final long end = leaderEnd();
            replies.add(write(String.format("%08d", i) + "-".repeat(bytes)));
            await("entry " + i, () -> leaderEnd() > end);
        }
        return replies;
    }

    private long leaderEnd() {
        try {
            return servers.get(leaderId()).getDivision(group.getGroupId()).getRaftLog().getNextIndex();
        } catch (final IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(final String event, final BooleanSupplier condition) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(WAIT_S)) {
                fail("did not occur: " + event);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    /** All servers have applied the first entry and these numbers, once and in order. */
    private void assertApplied(final int to, final List<CompletableFuture<RaftClientReply>> replies) throws Exception {
        for (final CompletableFuture<RaftClientReply> reply : replies) {
            assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess());
        }
        final List<String> expected = new ArrayList<>(List.of("first"));
        for (int i = 0; i < to; i++) {
            expected.add(String.format("%08d", i));
        }
        for (final RaftPeerId id : servers.keySet()) {
            await("all entries at " + id, () -> applied.get(id).size() >= expected.size());
            assertEquals(expected, List.copyOf(applied.get(id)), id::toString);
        }
    }

    private void hold(final int... peers) {
        for (final int index : peers) {
            held.add(peer(index));
        }
    }

    @Test
    void shouldHaveAsManyRequestsUnderWayAsConfigured() throws Exception {
        start(RdmaApi.RPMA);
        hold(1, 2);
        final List<CompletableFuture<RaftClientReply>> replies = write(0, 3 * WINDOW, 0);
        for (final int follower : new int[] {1, 2}) {
            await("requests to " + follower, () -> counter(sent, peer(follower)).get() == WINDOW);
            final long before = counter(heartbeats, peer(follower)).get();
            // They overtake the entries; a request over the limit would have been sent meanwhile.
            await("heartbeats", () -> counter(heartbeats, peer(follower)).get() >= before + 2);
            assertEquals(WINDOW, counter(sent, peer(follower)).get());
        }
        released.countDown();
        assertApplied(3 * WINDOW, replies);
    }

    @Test
    void shouldBoundTheBytesUnderWayToASlowFollower() throws Exception {
        start(RdmaApi.VERBS);
        hold(2);
        final int entries = 100;
        final List<CompletableFuture<RaftClientReply>> replies = write(0, entries, LONG_BYTES);
        for (final CompletableFuture<RaftClientReply> reply : replies) {
            assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess(), "by the majority");
        }
        final long bytes = counter(sentBytes, peer(2)).get();
        assertTrue(bytes < WINDOW_BYTES.getSize() + (64 << 10) + 1_000, () -> bytes + " bytes");
        released.countDown();
        assertApplied(entries, replies);
    }

    @Test
    void shouldContinueOverAnotherConnection() throws Exception {
        start(RdmaApi.VERBS);
        hold(1, 2);
        final List<CompletableFuture<RaftClientReply>> replies = write(0, WINDOW, 0);
        for (final int follower : new int[] {1, 2}) {
            await("requests to " + follower, () -> counter(sent, peer(follower)).get() == WINDOW);
            final RdmaServerRpc rpc = (RdmaServerRpc) servers.get(leaderId()).getServerRpc();
            rpc.getProxies().resetProxy(peer(follower));
            await("another request to " + follower, () -> counter(sent, peer(follower)).get() > WINDOW);
        }
        replies.addAll(write(WINDOW, 2 * WINDOW, 0));
        released.countDown();
        assertApplied(2 * WINDOW, replies);
    }

    /** By the clock: not in every build. LogAppenderWindowTest and RepeatedAppendsTest repeat requests without time-outs. */
    @Test
    @Tag("cluster")
    void shouldRepeatRequestsThatTimeOut() throws Exception {
        requestTimeout = TimeDuration.valueOf(1, TimeUnit.SECONDS);
        start(RdmaApi.RPMA);
        hold(1, 2);
        final List<CompletableFuture<RaftClientReply>> replies = write(0, WINDOW, 0);
        for (final int follower : new int[] {1, 2}) {
            await("repeated requests to " + follower, () -> counter(sent, peer(follower)).get() > WINDOW + 1);
        }
        replies.addAll(write(WINDOW, 2 * WINDOW, 0));
        released.countDown();
        assertApplied(2 * WINDOW, replies);
    }

    @Test
    void shouldBringAFollowerUpToDateThatHasLostItsLog() throws Exception {
        start(RdmaApi.VERBS);
        final List<CompletableFuture<RaftClientReply>> replies = write(0, WINDOW, 0);
        for (final CompletableFuture<RaftClientReply> reply : replies) {
            assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess());
        }
        servers.get(peer(2)).close();
        replies.addAll(write(WINDOW, 2 * WINDOW, LONG_BYTES));
        startServer(peer(2), false, "empty");
        replies.addAll(write(2 * WINDOW, 10 * WINDOW, 0));
        assertApplied(10 * WINDOW, replies);
    }

    @Test
    void shouldElectAnotherLeaderWhileRequestsAreUnderWay() throws Exception {
        start(RdmaApi.RPMA);
        hold(2);
        final List<CompletableFuture<RaftClientReply>> replies = write(0, 2 * WINDOW, 0);
        for (final CompletableFuture<RaftClientReply> reply : replies) {
            assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess());
        }
        assertEquals(WINDOW, counter(sent, peer(2)).get());
        assertTrue(client.admin().transferLeadership(peer(1), TimeUnit.SECONDS.toMillis(WAIT_S)).isSuccess());
        released.countDown();
        replies.add(write(String.format("%08d", 2 * WINDOW)));
        assertApplied(2 * WINDOW + 1, replies);
    }
}
