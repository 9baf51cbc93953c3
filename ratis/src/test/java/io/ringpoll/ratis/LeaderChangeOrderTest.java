package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
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
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients with many ordered requests in flight while the leader of three servers changes or stops: each client's acknowledged
 * requests must be stored once and in the order of its calls. One server and one client are over verbs, the others over rpma.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class LeaderChangeOrderTest {
    private static final int SERVERS = 3;
    private static final int CLIENTS = 3;
    private static final int CHANGES = TestDevice.isShort() ? 3 : 6;
    private static final int WAIT_S = 60;
    private static final int TRANSFER_MS = 3_000;
    /** Replies that a client must receive between two changes. */
    private static final int REPLIES_BETWEEN = TestDevice.isShort() ? 5 : 30;
    /** From two numbers to more than a buffer, so that the server reads the request from the client's memory. */
    private static final int[] LENGTHS = {2 * Integer.BYTES, 100, 2_000, 20_000};
    /** Limits the stored bytes; the requests in flight reach their limit while there is no leader. An emulated CPU stores few. */
    private static final long SEND_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(TestDevice.isShort() ? 100 : 2);
    /** Long enough for a leader that does not have a CPU for a second: else no leader would remain. */
    private static final TimeDuration ELECTION_MIN = TimeDuration.valueOf(1_500, TimeUnit.MILLISECONDS);
    private static final TimeDuration ELECTION_MAX = TimeDuration.valueOf(3, TimeUnit.SECONDS);
    /** A leader that has resigned stands for election again after this time. */
    private static final TimeDuration RESIGNED = TimeDuration.valueOf(200, TimeUnit.MILLISECONDS);

    @TempDir
    private Path folder;
    private final Map<RaftPeerId, RaftServer> servers = new ConcurrentHashMap<>();
    private final Map<RaftPeerId, List<Stored>> stored = new ConcurrentHashMap<>();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<Sender> senders = new ArrayList<>();
    private RaftGroup group;

    /** The number of a request of a client, counted from 0. */
    private record Stored(int client, int number) {
    }

    /** Records the applied requests. */
    private static final class Machine extends BaseStateMachine {
        private final List<Stored> applied;

        private Machine(final List<Stored> applied) {
            this.applied = applied;
        }

        @Override
        public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
            final LogEntryProto entry = transaction.getLogEntry();
            final ByteBuffer content = entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer();
            applied.add(new Stored(content.getInt(), content.getInt()));
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            return CompletableFuture.completedFuture(Message.EMPTY);
        }
    }

    /** Sends ordered requests until it is stopped. */
    private final class Sender {
        private final int index;
        private final RaftClient client;
        private final List<CompletableFuture<RaftClientReply>> replies = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger acknowledged = new AtomicInteger();
        private final Thread thread;

        private Sender(final int index) {
            this.index = index;
            client = newClient(index == 0 ? RdmaApi.VERBS : RdmaApi.RPMA);
            thread = Thread.ofPlatform().name("sender-" + index).start(this::send);
        }

        private void send() {
            for (int i = 0; !stopped.get(); i++) {
                final ByteBuffer content = ByteBuffer.allocate(LENGTHS[i % LENGTHS.length]).putInt(0, index).putInt(4, i);
                final CompletableFuture<RaftClientReply> reply =
                    client.async().send(Message.valueOf(UnsafeByteOperations.unsafeWrap(content)));
                replies.add(reply);
                reply.thenRun(acknowledged::incrementAndGet);
                LockSupport.parkNanos(SEND_INTERVAL_NS);
            }
        }

        private static boolean isAcknowledged(final CompletableFuture<RaftClientReply> reply) {
            return reply.isDone() && !reply.isCompletedExceptionally() && reply.join().isSuccess();
        }
    }

    @BeforeEach
    void start() throws IOException {
        final List<RaftPeer> peers = IntStream.range(0, SERVERS).mapToObj(i -> RaftPeer.newBuilder().setId("change-s" + i)
            .setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build()).toList();
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        for (final RaftPeer peer : peers) {
            startServer(peer.getId(), StartupOption.FORMAT);
        }
    }

    private void startServer(final RaftPeerId id, final StartupOption option) throws IOException {
        final RaftProperties properties = properties(id.toString().endsWith("1") ? RdmaApi.VERBS : RdmaApi.RPMA);
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve(id.toString()).toFile()));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, ELECTION_MIN);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, ELECTION_MAX);
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, RESIGNED);
        // The engine applies the stored requests again.
        final List<Stored> applied = Collections.synchronizedList(new ArrayList<>());
        stored.put(id, applied);
        final RaftServer server = RaftServer.newBuilder().setServerId(id).setProperties(properties).setGroup(group)
            .setOption(option).setStateMachineRegistry(gid -> new Machine(applied)).build();
        server.start();
        servers.put(id, server);
    }

    private static RaftProperties properties(final RdmaApi api) {
        final RaftProperties properties = new RaftProperties();
        RdmaConfigKeys.setApi(properties, api.name());
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        return properties;
    }

    private RaftClient newClient(final RdmaApi api) {
        return RaftClient.newBuilder().setProperties(properties(api)).setRaftGroup(group).build();
    }

    @AfterEach
    void stop() throws Exception {
        stopped.set(true);
        for (final Sender sender : senders) {
            sender.client.close();
            sender.thread.join();
        }
        for (final RaftServer server : servers.values()) {
            server.close();
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

    private RaftPeerId leader() throws InterruptedException {
        final List<RaftPeerId> found = new ArrayList<>();
        await("a leader", () -> {
            servers.values().stream().filter(this::isLeader).map(RaftServer::getId).findAny().ifPresent(found::add);
            return !found.isEmpty();
        });
        return found.getFirst();
    }

    private boolean isLeader(final RaftServer server) {
        try {
            return server.getDivision(group.getGroupId()).getInfo().isLeaderReady();
        } catch (final IOException e) {
            return false;
        }
    }

    private void changeLeader(final RaftClient admin, final int change) throws Exception {
        final RaftPeerId leader = leader();
        if (change % 3 == 2) {
            servers.get(leader).close();
            startServer(leader, StartupOption.RECOVER);
            return;
        }
        final RaftPeerId next = group.getPeers().stream().map(RaftPeer::getId).filter(id -> !id.equals(leader)).toList()
            .get(change % 2);
        try {
            admin.admin().transferLeadership(next, TRANSFER_MS);
        } catch (final IOException e) {
            // Not in time, as under load: the leader remains.
            return;
        }
    }

    @Test
    void shouldStoreOrderedRequestsOnceAndInOrderWhileTheLeaderChanges() throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            senders.add(new Sender(i));
        }
        try (RaftClient admin = newClient(RdmaApi.VERBS)) {
            for (int change = 0; change < CHANGES; change++) {
                for (final Sender sender : senders) {
                    final int before = sender.acknowledged.get();
                    await("replies", () -> sender.acknowledged.get() >= before + REPLIES_BETWEEN);
                }
                changeLeader(admin, change);
            }
        }
        stopped.set(true);
        for (final Sender sender : senders) {
            sender.thread.join();
            await("all replies", () -> sender.replies.stream().allMatch(CompletableFuture::isDone));
        }
        final RaftPeerId last = leader();
        for (final RaftPeerId id : servers.keySet()) {
            await("all requests at " + id, () -> stored.get(id).size() >= stored.get(last).size());
        }
        for (final List<Stored> applied : stored.values()) {
            senders.forEach(sender -> assertInOrder(sender, List.copyOf(applied)));
        }
    }

    private static void assertInOrder(final Sender sender, final List<Stored> applied) {
        final List<Integer> numbers =
            applied.stream().filter(request -> request.client() == sender.index).map(Stored::number).toList();
        final Set<Integer> once = new HashSet<>(numbers);
        assertEquals(once.size(), numbers.size(), () -> "stored twice: " + repeated(numbers));
        final List<Integer> acknowledged = IntStream.range(0, sender.replies.size())
            .filter(i -> Sender.isAcknowledged(sender.replies.get(i))).boxed().toList();
        assertTrue(once.containsAll(acknowledged), "a lost request of client " + sender.index);
        final Set<Integer> expected = new HashSet<>(acknowledged);
        int before = -1;
        for (final int number : numbers) {
            if (expected.contains(number)) {
                assertTrue(number > before, number + " of client " + sender.index + " stored after " + before);
                before = number;
            }
        }
    }

    private static List<Integer> repeated(final List<Integer> numbers) {
        final Set<Integer> seen = new HashSet<>();
        return numbers.stream().filter(number -> !seen.add(number)).toList();
    }
}
