package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.client.impl.RaftOutputStream;
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
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/** Sends requests of mixed sizes to three servers, which must store them in the order of the client's calls. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@CsvSource({"poller, rpma", "parallel, rpma", "parallel, verbs"})
class OrderedRequestsTest {
    private static final int SERVERS = 3;
    private static final int WAIT_S = 60;
    private static final int LONG_BYTES = 200_000;
    /** The first server remains the leader: longer than pauses of a busy machine. */
    private static final TimeDuration NO_ELECTION = TimeDuration.valueOf(20, TimeUnit.SECONDS);
    private static final SizeInBytes CHUNK = SizeInBytes.valueOf("64KB");

    @TempDir
    private static Path folder;
    private static final Map<RaftPeerId, List<ByteString>> APPLIED = new ConcurrentHashMap<>();
    private static final List<RaftServer> CLUSTER = new ArrayList<>();
    private static RaftGroup group;

    @Parameter(0)
    private String handlers;
    @Parameter(1)
    private String api;
    private RaftClient client;

    /** Records the applied contents. */
    private static final class Machine extends BaseStateMachine {
        private final List<ByteString> contents;

        private Machine(final List<ByteString> contents) {
            this.contents = contents;
        }

        @Override
        public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
            final LogEntryProto entry = transaction.getLogEntry();
            contents.add(ByteString.copyFrom(entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer()));
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            return CompletableFuture.completedFuture(Message.EMPTY);
        }
    }

    @BeforeParameterizedClassInvocation
    static void start(final String handlers, final String api) throws IOException {
        final List<Integer> ports =
            IntStream.range(0, SERVERS).mapToObj(i -> Integer.parseInt(ConnectedPair.anyPort())).toList();
        final List<RaftPeer> peers = IntStream.range(0, SERVERS).mapToObj(i -> RaftPeer.newBuilder().setId("order-s" + i)
            .setAddress(TestDevice.address() + ":" + ports.get(i)).build()).toList();
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        for (int i = 0; i < SERVERS; i++) {
            final RaftProperties properties = properties(handlers, api);
            RdmaConfigKeys.setServerHost(properties, TestDevice.address());
            RdmaConfigKeys.setServerPort(properties, ports.get(i));
            properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
            RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve(handlers + api + i).toFile()));
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, NO_ELECTION);
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, NO_ELECTION.multiply(2));
            if (i == 0) {
                RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, TimeDuration.valueOf(100, TimeUnit.MILLISECONDS));
                RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, TimeDuration.valueOf(200, TimeUnit.MILLISECONDS));
            }
            final List<ByteString> contents = Collections.synchronizedList(new ArrayList<>());
            APPLIED.put(peers.get(i).getId(), contents);
            final RaftServer server = RaftServer.newBuilder().setServerId(peers.get(i).getId()).setProperties(properties)
                .setGroup(group).setStateMachineRegistry(id -> new Machine(contents)).build();
            CLUSTER.add(server);
        }
        // The first server last: its election needs a vote of another one.
        for (final RaftServer server : CLUSTER.reversed()) {
            server.start();
        }
    }

    @AfterParameterizedClassInvocation
    static void stop() throws IOException {
        for (final RaftServer server : CLUSTER) {
            server.close();
        }
        CLUSTER.clear();
    }

    private static RaftProperties properties(final String handlers, final String api) {
        final RaftProperties properties = TestProperties.patient();
        properties.set(RdmaConfigKeys.HANDLERS_KEY, handlers);
        RdmaConfigKeys.setApi(properties, api);
        RaftClientConfigKeys.MessageStream.setSubmessageSize(properties, CHUNK);
        return properties;
    }

    private RaftClient newClient() {
        return RaftClient.newBuilder().setProperties(properties(handlers, api)).setRaftGroup(group).build();
    }

    @BeforeEach
    void connect() {
        APPLIED.values().forEach(List::clear);
        client = newClient();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
    }

    /** Waits until all servers have applied the contents, and no others. */
    private static void assertApplied(final List<ByteString> expected) throws InterruptedException {
        final long startNs = System.nanoTime();
        for (final Map.Entry<RaftPeerId, List<ByteString>> server : APPLIED.entrySet()) {
            while (server.getValue().size() < expected.size()) {
                assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(WAIT_S), "not applied by " + server.getKey());
                TimeUnit.MILLISECONDS.sleep(1);
            }
            final List<ByteString> contents = List.copyOf(server.getValue());
            // Not compared as a whole: a failure must not print the contents.
            assertEquals(expected.size(), contents.size(), server.getKey()::toString);
            for (int i = 0; i < expected.size(); i++) {
                assertEquals(expected.get(i), contents.get(i), i + " of " + server.getKey());
            }
        }
    }

    private static ByteString random(final int lengthBytes) {
        final byte[] bytes = new byte[lengthBytes];
        new Random(lengthBytes).nextBytes(bytes);
        return UnsafeByteOperations.unsafeWrap(bytes);
    }

    @Test
    void shouldApplyOrderedRequestsOfMixedSizesInOrder() throws Exception {
        final List<ByteString> contents = new ArrayList<>();
        final List<CompletableFuture<RaftClientReply>> replies = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            final ByteBuffer content = ByteBuffer.allocate(i % 5 == 4 ? LONG_BYTES : 100).putInt(0, i);
            contents.add(UnsafeByteOperations.unsafeWrap(content));
            replies.add(client.async().send(Message.valueOf(contents.getLast())));
        }
        for (final CompletableFuture<RaftClientReply> reply : replies) {
            assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess());
        }
        assertApplied(contents);
    }

    @Test
    void shouldStoreAnOutputStreamWithAShortTail() throws Exception {
        final ByteString tail = random(100);
        final List<ByteString> chunks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            chunks.add(random(CHUNK.getSizeInt() - i).concat(random(i)));
        }
        chunks.add(tail);
        try (OutputStream out = new RaftOutputStream(this::newClient, CHUNK)) {
            ByteString.copyFrom(chunks).writeTo(out);
        }
        assertApplied(chunks);
    }

    @Test
    void shouldJoinAMessageStreamWithAShortTail() throws Exception {
        final ByteString written = random(20 * CHUNK.getSizeInt() + 100);
        assertTrue(client.getMessageStreamApi().streamAsync(Message.valueOf(written)).get(WAIT_S, TimeUnit.SECONDS).isSuccess());
        assertApplied(List.of(written));
    }
}
