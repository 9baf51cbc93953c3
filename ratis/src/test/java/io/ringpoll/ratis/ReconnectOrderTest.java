package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
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
 * A client's connection is lost while the server still processes its requests: those that the client sends again on the next
 * connection must not overtake them.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 180, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class ReconnectOrderTest {
    private static final int WAIT_S = 90;
    private static final int REQUESTS = TestDevice.isShort() ? 250 : 1_000;
    private static final int CUTS = 10;
    /** A credit for each; the others wait at the client. */
    private static final int ADMITTED = 8;
    /** Parsed on a thread for long messages. */
    private static final int LONGEST = 150_000;
    /** From a number to messages that the server reads from the client's memory. */
    private static final int[] LENGTHS = {Integer.BYTES, 100, 2_000, 20_000, LONGEST};
    private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int SLOW_NS = 500_000;
    private static final TimeDuration RETRY = TimeDuration.valueOf(1, TimeUnit.MILLISECONDS);

    @Parameter
    private Variant variant;
    @TempDir
    private Path folder;
    private final List<Integer> started = Collections.synchronizedList(new ArrayList<>());
    private final List<Integer> applied = Collections.synchronizedList(new ArrayList<>());
    /** Completed by the test; later ones are applied at once. */
    private volatile CompletableFuture<Void> firstApplied = CompletableFuture.completedFuture(null);
    private volatile IntConsumer onStart = number -> { };
    private RaftServer server;
    private RaftClient client;

    /** Each thread of the requests, and each binding, without a run for each pair of them. */
    private enum Variant {
        WORKERS(RdmaApi.RPMA, false),
        DIRECT(RdmaApi.VERBS, true);

        private final RdmaApi api;
        private final boolean direct;

        Variant(final RdmaApi api, final boolean direct) {
            this.api = api;
            this.direct = direct;
        }
    }

    /** Records the numbers of transactions when they start, before the engine appends them, and when they are applied. */
    private final class Machine extends BaseStateMachine {
        @Override
        public TransactionContext startTransaction(final RaftClientRequest request) throws IOException {
            final int number = request.getMessage().getContent().asReadOnlyByteBuffer().getInt();
            started.add(number);
            onStart.accept(number);
            return super.startTransaction(request);
        }

        @Override
        public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
            final LogEntryProto entry = transaction.getLogEntry();
            applied.add(entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer().getInt());
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            return firstApplied.thenApply(done -> Message.EMPTY);
        }
    }

    @BeforeEach
    void start() throws IOException {
        final RaftPeer peer = RaftPeer.newBuilder().setId("reconnect-s")
            .setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build();
        final RaftGroup group = RaftGroup.valueOf(RaftGroupId.randomId(), peer);
        final RaftProperties properties = properties();
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        properties.setBoolean(RdmaConfigKeys.DIRECT_KEY, variant.direct);
        properties.setInt(RdmaConfigKeys.CREDITS_KEY, ADMITTED);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties).setGroup(group)
            .setStateMachineRegistry(id -> new Machine()).build();
        server.start();
        client = RaftClient.newBuilder().setProperties(properties()).setRaftGroup(group)
            .setRetryPolicy(RetryPolicies.retryForeverWithSleep(RETRY)).build();
    }

    private RaftProperties properties() {
        final RaftProperties properties = new RaftProperties();
        RdmaConfigKeys.setApi(properties, variant.api.name());
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        RaftClientConfigKeys.Async.setOutstandingRequestsMax(properties, REQUESTS);
        return properties;
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private static void await(final String event, final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(WAIT_S)) {
                fail("did not occur: " + event);
            }
            Uninterruptibles.sleepUninterruptibly(1, TimeUnit.MILLISECONDS);
        }
    }

    private CompletableFuture<RaftClientReply> send(final int number, final int lengthBytes) {
        final ByteBuffer content = ByteBuffer.allocate(lengthBytes).putInt(0, number);
        return client.async().send(Message.valueOf(UnsafeByteOperations.unsafeWrap(content)));
    }

    private static void assertSuccess(final CompletableFuture<RaftClientReply> reply) throws Exception {
        assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess());
    }

    private void cut() {
        final RdmaProxyMap servers = (RdmaProxyMap) ((RdmaClientRpc) client.getClientRpc()).getProxies();
        await("a connection", () -> servers.isConnected(server.getId()));
        servers.latest(server.getId()).close();
    }

    private long received() {
        return counters().peer(TransportCounters.CLIENTS).value(Figure.REQUESTS_RECEIVED);
    }

    private TransportCounters counters() {
        return ((RdmaServerRpc) server.getServerRpc()).counters();
    }

    /** Waits until the server has received a number of requests, and a moment for one that must not be processed then. */
    private void awaitReceived(final long requests, final int mustWait) {
        await("the requests", () -> received() >= requests);
        final long startNs = System.nanoTime();
        while (!started.contains(mustWait) && System.nanoTime() - startNs < GRACE_NS) {
            Uninterruptibles.sleepUninterruptibly(1, TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void shouldNotOvertakeARequestThatIsStillProcessedForTheLostConnection() throws Exception {
        assertSuccess(send(0, Integer.BYTES));
        final CompletableFuture<Void> first = new CompletableFuture<>();
        final CompletableFuture<Void> second = new CompletableFuture<>();
        final CompletableFuture<Void> secondStarted = new CompletableFuture<>();
        firstApplied = first;
        onStart = number -> {
            if (number == 2) {
                secondStarted.complete(null);
                second.join();
            }
        };
        try {
            final List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
            for (int number = 1; number <= 5; number++) {
                // A direct server processes a long request on a thread of its own.
                replies.add(send(number, number == 2 ? LONGEST : LENGTHS[number % LENGTHS.length]));
            }
            secondStarted.get(WAIT_S, TimeUnit.SECONDS);
            // The engine knows the second request, but has not appended it.
            final long before = received();
            cut();
            first.complete(null);
            awaitReceived(before + 1, 3);
            second.complete(null);
            for (final CompletableFuture<RaftClientReply> reply : replies) {
                assertSuccess(reply);
            }
        } finally {
            first.complete(null);
            second.complete(null);
        }
        assertEquals(List.of(0, 1, 2, 3, 4, 5), List.copyOf(applied));
    }

    @Test
    void shouldApplyAllRequestsOnceAndInOrderOverManyConnections() throws Exception {
        assertSuccess(send(0, Integer.BYTES));
        final Random random = new Random(1);
        // Requests wait at the server and at the client: it receives them faster than it processes them.
        onStart = number -> LockSupport.parkNanos(random.nextInt(SLOW_NS));
        final List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
        for (int number = 1; number <= REQUESTS; number++) {
            replies.add(send(number, LENGTHS[random.nextInt(LENGTHS.length)]));
        }
        for (int cut = 1; cut <= CUTS; cut++) {
            final int appliedBefore = cut * REQUESTS / (CUTS + 1);
            await("applied requests", () -> applied.size() >= appliedBefore);
            cut();
        }
        for (final CompletableFuture<RaftClientReply> reply : replies) {
            assertSuccess(reply);
        }
        assertEquals(IntStream.rangeClosed(0, REQUESTS).boxed().toList(), List.copyOf(applied));
        assertTrue(((RdmaClientRpc) client.getClientRpc()).counters().value(Count.CONNECTIONS_OPENED) >= CUTS);
    }
}
