package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Messages over {@code raft.rdma.message.size.max}, which the engine's client must not send again and again. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class TooLongMessagesTest {
    private static final int LIMIT_BYTES = 100_000;
    private static final Message TOO_LONG = Message.valueOf(ByteString.copyFrom(new byte[LIMIT_BYTES]));
    private static final Message SHORT = Message.valueOf("short");

    @TempDir
    private Path folder;
    private RaftServer server;
    private RaftClient client;

    /** Replies to a read with more than the client accepts. */
    private static final class Machine extends BaseStateMachine {
        @Override
        public CompletableFuture<Message> query(final Message request) {
            return CompletableFuture.completedFuture(TOO_LONG);
        }
    }

    @BeforeEach
    void start() throws IOException {
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        final RaftPeer peer = RaftPeer.newBuilder().setId("limits").setAddress(TestDevice.address() + ":" + port).build();
        final RaftGroup group = RaftGroup.valueOf(RaftGroupId.randomId(), peer);
        final RaftProperties properties = TestProperties.patient();
        RdmaConfigKeys.setServerHost(properties, TestDevice.address());
        RdmaConfigKeys.setServerPort(properties, port);
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties).setGroup(group)
            .setStateMachineRegistry(id -> new Machine()).build();
        server.start();
        final RaftProperties limited = TestProperties.patient();
        limited.set(RdmaConfigKeys.MESSAGE_SIZE_MAX_KEY, Integer.toString(LIMIT_BYTES));
        client = RaftClient.newBuilder().setProperties(limited).setRaftGroup(group).build();
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private long count(final Count count) {
        return ((RdmaClientRpc) client.getClientRpc()).counters().value(count);
    }

    private TransportCounters serverCounters() {
        return ((RdmaServerRpc) server.getServerRpc()).counters();
    }

    private static void assertRefused(final CompletableFuture<RaftClientReply> reply) {
        final ExecutionException failure = assertThrows(ExecutionException.class, () -> reply.get(60, TimeUnit.SECONDS));
        assertLimit(assertInstanceOf(StateMachineException.class, failure.getCause()));
    }

    private static void assertLimit(final Exception failure) {
        assertTrue(failure.getMessage().contains("raft.rdma.message.size.max"), failure.getMessage());
    }

    private void assertServed() throws Exception {
        assertTrue(client.io().send(SHORT).isSuccess());
        assertTrue(client.async().send(SHORT).get(60, TimeUnit.SECONDS).isSuccess());
        assertEquals(1, count(Count.CONNECTIONS_OPENED));
    }

    @Test
    void shouldFailABlockingRequestThatIsTooLongAfterOneAttempt() throws Exception {
        assertTrue(client.io().send(SHORT).isSuccess());
        assertLimit(assertThrows(StateMachineException.class, () -> client.io().send(TOO_LONG)));
        assertEquals(1, count(Count.MESSAGES_UNSENT));
        assertServed();
    }

    @Test
    void shouldFailOrderedRequestsThatAreTooLongAndNotThoseBehind() throws Exception {
        assertTrue(client.io().send(SHORT).isSuccess());
        // Also as the first one of its series, which the others wait for.
        final CompletableFuture<RaftClientReply> first = client.async().send(TOO_LONG);
        final CompletableFuture<RaftClientReply> second = client.async().send(SHORT);
        final CompletableFuture<RaftClientReply> third = client.async().send(TOO_LONG);
        final CompletableFuture<RaftClientReply> fourth = client.async().send(SHORT);
        assertRefused(first);
        assertTrue(second.get(60, TimeUnit.SECONDS).isSuccess());
        assertRefused(third);
        assertTrue(fourth.get(60, TimeUnit.SECONDS).isSuccess());
        assertEquals(2, count(Count.MESSAGES_UNSENT));
        assertServed();
    }

    @Test
    void shouldFailAnUnorderedRequestThatIsTooLongAfterOneAttempt() throws Exception {
        assertTrue(client.io().send(SHORT).isSuccess());
        assertRefused(client.async().sendReadOnlyUnordered(TOO_LONG));
        assertEquals(1, count(Count.MESSAGES_UNSENT));
        assertServed();
    }

    @Test
    void shouldFailARequestWithAReplyThatIsTooLongAfterOneAttempt() throws Exception {
        assertTrue(client.io().send(SHORT).isSuccess());
        assertLimit(assertThrows(StateMachineException.class, () -> client.io().sendReadOnly(SHORT)));
        assertRefused(client.async().sendReadOnly(SHORT));
        assertRefused(client.async().sendReadOnlyUnordered(SHORT));
        assertEquals(3, serverCounters().value(Count.MESSAGES_UNSENT));
        assertServed();
    }

    @Test
    void shouldRefuseToStartAServerWithLongerEntriesThanMessages() {
        final RaftProperties properties = TestProperties.patient();
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf("64MB"));
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve("refused").toFile()));
        final Exception failure = assertThrows(Exception.class, () -> RaftServer.newBuilder()
            .setServerId(server.getId()).setProperties(properties).setStateMachineRegistry(id -> new Machine()).build());
        assertTrue(failure.toString().contains("raft.rdma.message.size.max") ||
            failure.getCause().toString().contains("raft.rdma.message.size.max"), failure.toString());
    }
}
