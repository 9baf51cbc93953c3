package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.ReplicationLevel;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupListReply;
import org.apache.ratis.protocol.GroupListRequest;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client's transport and two servers that reply when the test permits; without an engine. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaClientRpcTest {
    private static final RaftPeerId FIRST = RaftPeerId.valueOf("rpc-first");
    private static final RaftPeerId SECOND = RaftPeerId.valueOf("rpc-second");
    private static final RaftGroupId GROUP = RaftGroupId.randomId();

    private final ClientId clientId = ClientId.randomId();
    private final RaftProperties properties = TestProperties.patient();
    private final List<Node> servers = new ArrayList<>();
    private final List<RaftPeer> peers = new ArrayList<>();
    private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
    private RdmaClientRpc client;

    /** A request at a server. */
    private record Received(RaftPeerId by, MessageType type, MessageLite message, CompletableFuture<MessageLite> reply) {
        private RaftClientRequest request() {
            return ClientProtoUtils.toRaftClientRequest((RaftClientRequestProto) message);
        }

        private void answer() {
            reply.complete(ClientProtoUtils.toRaftClientReplyProto(
                RaftClientReply.newBuilder().setRequest(request()).setSuccess().build()));
        }

        private void refuse(final RaftException reason) {
            reply.complete(ClientProtoUtils.toRaftClientReplyProto(
                RaftClientReply.newBuilder().setRequest(request()).setException(reason).build()));
        }
    }

    @BeforeEach
    void serve() throws IOException {
        for (final RaftPeerId id : List.of(FIRST, SECOND)) {
            final Node server = new Node(RdmaConfig.nodeConfig(properties, id.toString(), false),
                RdmaApi.RPMA.ofLocal(TestDevice.address()), (type, message) -> {
                    final CompletableFuture<MessageLite> reply = new CompletableFuture<>();
                    received.add(new Received(id, type, message, reply));
                    return reply;
                }, new TransportCounters());
            servers.add(server);
            final int port = Integer.parseInt(ConnectedPair.anyPort());
            server.listen(TestDevice.address(), port);
            peers.add(RaftPeer.newBuilder().setId(id).setAddress(TestDevice.address() + ":" + port).build());
        }
    }

    @AfterEach
    void close() throws InterruptedException {
        if (client != null) {
            client.close();
        }
        servers.forEach(Node::close);
        final long startNs = System.nanoTime();
        while (threads() > 0) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), "threads of the client");
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private long threads() {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith(clientId + "-rdma")).count();
    }

    private RdmaClientRpc client() {
        client = new RdmaClientRpc(clientId, properties);
        client.addRaftPeers(peers);
        return client;
    }

    private void timeouts(final int requestMs, final int watchMs) {
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(requestMs, TimeUnit.MILLISECONDS));
        RaftClientConfigKeys.Rpc.setWatchRequestTimeout(properties, TimeDuration.valueOf(watchMs, TimeUnit.MILLISECONDS));
    }

    private RaftClientRequest.Builder request(final RaftPeerId server, final long callId) {
        return RaftClientRequest.newBuilder().setClientId(clientId).setServerId(server).setGroupId(GROUP).setCallId(callId)
            .setMessage(Message.EMPTY).setType(RaftClientRequest.writeRequestType());
    }

    private RaftClientRequest.Builder toLeader(final RaftPeerId server, final long number) {
        return request(server, number).setLeaderId(server).setSlidingWindowEntry(window(number));
    }

    private RaftClientRequest toServer(final RaftPeerId server, final long number) {
        return request(server, number).setSlidingWindowEntry(window(number)).build();
    }

    private static SlidingWindowEntry window(final long number) {
        return SlidingWindowEntry.newBuilder().setSeqNum(number).build();
    }

    private Received next() throws InterruptedException {
        final Received next = received.poll(30, TimeUnit.SECONDS);
        assertNotNull(next, "a request");
        return next;
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }

    private static NotLeaderException notLeader(final RaftPeerId server) {
        return new NotLeaderException(RaftGroupMemberId.valueOf(server, GROUP), null, null);
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportAnInterruptDuringTheSearchForTheDevice(final RdmaApi api) {
        RdmaConfigKeys.setApi(properties, api.toString());
        final RdmaClientRpc first = client();
        Thread.currentThread().interrupt();
        try {
            assertThrows(InterruptedIOException.class, () -> first.sendRequest(request(FIRST, 1).build()));
        } finally {
            assertTrue(Thread.interrupted(), "the interrupt stays pending");
        }
    }

    /** The engine's client does so at once and for ever, unless its policy has pauses: an interrupt ends these, and the call. */
    @Test
    void shouldWaitForTheReplyIfAnInterruptedThreadTriesAgain() throws Exception {
        final RdmaClientRpc rpc = client();
        final RaftClientRequest request = request(FIRST, 1).build();
        final Thread answering = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    received.take().answer();
                }
            } catch (final InterruptedException end) {
                return;
            }
        });
        Thread.currentThread().interrupt();
        try {
            assertThrows(InterruptedIOException.class, () -> rpc.sendRequest(request));
            assertTrue(rpc.sendRequest(request).isSuccess());
            assertTrue(Thread.currentThread().isInterrupted(), "the interrupt stays pending");
            assertThrows(InterruptedIOException.class, () -> rpc.sendRequest(request(FIRST, 2).build()), "another call");
        } finally {
            assertTrue(Thread.interrupted(), "the interrupt stays pending");
            answering.interrupt();
        }
    }

    @Test
    void shouldSendEachRequestAsItsType() throws Exception {
        final RdmaClientRpc rpc = client();
        final RaftGroup group = RaftGroup.valueOf(GROUP, peers);
        final List<RaftClientRequest> requests = List.of(request(FIRST, 1).build(),
            GroupManagementRequest.newAdd(clientId, FIRST, 2, group),
            new SetConfigurationRequest(clientId, FIRST, GROUP, 3, peers),
            new TransferLeadershipRequest(clientId, FIRST, GROUP, 4, SECOND, 1000),
            SnapshotManagementRequest.newCreate(clientId, FIRST, GROUP, 5, 1000),
            LeaderElectionManagementRequest.newPause(clientId, FIRST, GROUP, 6));
        final List<MessageType> types = List.of(MessageType.CLIENT_REQUEST, MessageType.GROUP_MANAGEMENT,
            MessageType.SET_CONFIGURATION, MessageType.TRANSFER_LEADERSHIP, MessageType.SNAPSHOT_MANAGEMENT,
            MessageType.LEADER_ELECTION_MANAGEMENT);
        for (int i = 0; i < requests.size(); i++) {
            final RaftClientRequest request = requests.get(i);
            final CompletableFuture<RaftClientReply> reply = rpc.sendRequestAsync(request);
            final Received atServer = next();
            assertEquals(types.get(i), atServer.type());
            atServer.reply().complete(ClientProtoUtils.toRaftClientReplyProto(
                RaftClientReply.newBuilder().setRequest(request).setSuccess().build()));
            assertEquals(request.getCallId(), reply.get(30, TimeUnit.SECONDS).getCallId());
        }
        final GroupListRequest list = new GroupListRequest(clientId, FIRST, GROUP, 7);
        final CompletableFuture<RaftClientReply> listed = rpc.sendRequestAsync(list);
        final Received atServer = next();
        assertEquals(MessageType.GROUP_LIST, atServer.type());
        atServer.reply().complete(ClientProtoUtils.toGroupListReplyProto(new GroupListReply(list, List.of(GROUP))));
        assertEquals(List.of(GROUP), ((GroupListReply) listed.get(30, TimeUnit.SECONDS)).getGroupIds());
        assertTrue(rpc.counters().value(Count.FRAMES_SENT) > requests.size());
    }

    @Test
    void shouldFailWithTheRefusalOfAServerOnAThreadOfItsOwn() throws Exception {
        final RdmaClientRpc rpc = client();
        final CompletableFuture<RaftClientReply> first = rpc.sendRequestAsync(request(FIRST, 1).build());
        final CompletableFuture<String> thread = first.handle((reply, failure) -> Thread.currentThread().getName());
        next().refuse(notLeader(FIRST));
        // A thread that waits for the request itself may run its dependents.
        assertTrue(thread.get(30, TimeUnit.SECONDS).startsWith(clientId + "-rdma-retry-"), thread.get());
        assertInstanceOf(NotLeaderException.class, failureOf(first));
        final CompletableFuture<RaftClientReply> second = rpc.sendRequestAsync(request(FIRST, 2).build());
        next().refuse(new LeaderNotReadyException(RaftGroupMemberId.valueOf(FIRST, GROUP)));
        assertInstanceOf(LeaderNotReadyException.class, failureOf(second));
    }

    @Test
    void shouldTimeOutARequestBeforeAWatch() throws Exception {
        timeouts(300, 3_600_000);
        final RdmaClientRpc rpc = client();
        final CompletableFuture<RaftClientReply> watch = rpc.sendRequestAsync(
            request(FIRST, 1).setType(RaftClientRequest.watchRequestType(9, ReplicationLevel.ALL)).build());
        final Received watching = next();
        final CompletableFuture<RaftClientReply> write = rpc.sendRequestAsync(request(SECOND, 2).build());
        final Throwable failure = failureOf(write);
        assertInstanceOf(TimeoutIOException.class, failure);
        assertTrue(failure.getMessage().contains("no reply in 300ms"), failure.getMessage());
        assertFalse(watch.isDone());
        watching.answer();
        assertTrue(watch.get(30, TimeUnit.SECONDS).isSuccess());
    }

    @Test
    void shouldTimeOutWhileItWaits() {
        timeouts(100, 200);
        final RdmaClientRpc rpc = client();
        final RaftClientRequest transfer = new TransferLeadershipRequest(clientId, FIRST, GROUP, 1, SECOND, 300);
        final TimeoutIOException late = assertThrows(TimeoutIOException.class, () -> rpc.sendRequest(transfer));
        assertTrue(late.getMessage().contains("in 400ms"), late.getMessage());
        final RaftClientRequest watch =
            request(SECOND, 2).setType(RaftClientRequest.watchRequestType(9, ReplicationLevel.ALL)).setTimeoutMs(300).build();
        final TimeoutIOException later = assertThrows(TimeoutIOException.class, () -> rpc.sendRequest(watch));
        assertTrue(later.getMessage().contains("in 200ms"), later.getMessage());
    }

    /** The thread of a reply serves all connections: it must not wait for another one. */
    @Test
    void shouldSendABlockingRequestToAnotherServerAfterALostConnection() throws Exception {
        timeouts(60_000, 60_000);
        try (RaftClient engines = engineClient()) {
            final CompletableFuture<RaftClientReply> reply = CompletableFuture.supplyAsync(() -> {
                try {
                    return engines.io().send(Message.EMPTY);
                } catch (final IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertEquals(FIRST, next().by());
            servers.getFirst().close();
            final Received again = next();
            assertEquals(SECOND, again.by());
            again.answer();
            assertTrue(reply.get(30, TimeUnit.SECONDS).isSuccess());
        }
    }

    @Test
    void shouldFailBlockingRequestsOfAClosedClient() {
        client().close();
        assertThrows(AlreadyClosedException.class, () -> client.sendRequest(request(FIRST, 1).build()));
    }

    /** The engine's client over this transport; {@link #FIRST} is its leader. */
    private RaftClient engineClient() {
        final RaftGroup group = RaftGroup.valueOf(GROUP, peers);
        return RaftClient.newBuilder().setClientId(clientId).setProperties(properties).setRaftGroup(group).setLeaderId(FIRST)
            .setClientRpc(client()).build();
    }

    @Test
    void shouldConnectOnAThreadOfItsOwn() throws Exception {
        final RdmaClientRpc rpc = client();
        final CompletableFuture<RaftClientReply> first = rpc.sendRequestAsync(request(FIRST, 1).build());
        final CompletableFuture<List<CompletableFuture<RaftClientReply>>> others = first.thenApply(reply -> List.of(
            rpc.sendRequestAsync(toLeader(SECOND, 2).build()), rpc.sendRequestAsync(toLeader(SECOND, 3).build())));
        next().answer();
        for (int number = 2; number <= 3; number++) {
            final Received atServer = next();
            assertEquals(number, atServer.request().getCallId());
            atServer.answer();
            assertTrue(others.get(30, TimeUnit.SECONDS).get(number - 2).get(30, TimeUnit.SECONDS).isSuccess());
        }
    }

    @Test
    void shouldConnectOnAThreadOfItsOwnForARequestWithoutANumber() throws Exception {
        final RdmaClientRpc rpc = client();
        final CompletableFuture<CompletableFuture<RaftClientReply>> other = rpc.sendRequestAsync(request(FIRST, 1).build())
            .thenApply(reply -> rpc.sendRequestAsync(request(SECOND, 2).build()));
        next().answer();
        final Received atServer = next();
        assertEquals(SECOND, atServer.by());
        atServer.answer();
        assertEquals(2, other.get(30, TimeUnit.SECONDS).get(30, TimeUnit.SECONDS).getCallId());
    }

    /** By default, the thread of a reply serves the connections of all clients of the process, also of later ones. */
    @Test
    void shouldConnectOnAThreadOfItsOwnForTheFirstRequestOfAnotherClient() throws Exception {
        final RdmaClientRpc rpc = client();
        try (RdmaClientRpc another = new RdmaClientRpc(ClientId.randomId(), properties)) {
            another.addRaftPeers(peers);
            final CompletableFuture<CompletableFuture<RaftClientReply>> other = rpc.sendRequestAsync(request(FIRST, 1).build())
                .thenApply(reply -> another.sendRequestAsync(request(SECOND, 2).build()));
            next().answer();
            next().answer();
            assertEquals(2, other.get(30, TimeUnit.SECONDS).get(30, TimeUnit.SECONDS).getCallId());
        }
    }

    @Test
    void shouldRefuseToWaitOnTheThreadThatWouldReceiveTheReply() throws Exception {
        final RdmaClientRpc rpc = client();
        final CompletableFuture<RaftClientReply> waiting = rpc.sendRequestAsync(request(FIRST, 1).build()).thenApply(reply -> {
            try {
                return rpc.sendRequest(request(FIRST, 2).build());
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        next().answer();
        final Throwable refusal = failureOf(waiting);
        assertInstanceOf(IllegalStateException.class, refusal);
        assertTrue(refusal.getMessage().contains("cannot wait"), refusal.getMessage());
    }

    @Test
    void shouldHoldLaterRequestsOfTheSeriesOnly() throws Exception {
        final RdmaClientRpc rpc = client();
        final CompletableFuture<RaftClientReply> refused = rpc.sendRequestAsync(toLeader(FIRST, 5).build());
        next().refuse(notLeader(FIRST));
        failureOf(refused);
        rpc.sendRequestAsync(toLeader(SECOND, 6).build());
        // Another series, and a request without a number.
        rpc.sendRequestAsync(toServer(SECOND, 7));
        assertEquals(7, next().request().getCallId());
        rpc.sendRequestAsync(request(SECOND, 8).build());
        assertEquals(8, next().request().getCallId());
        assertNull(received.poll());
        rpc.sendRequestAsync(toLeader(SECOND, 5).build());
        assertEquals(5, next().request().getCallId());
        assertEquals(6, next().request().getCallId());
    }

    @Test
    void shouldContinueASeriesWithAnotherServerAfterAReply() throws Exception {
        final RdmaClientRpc rpc = client();
        final CompletableFuture<RaftClientReply> first = rpc.sendRequestAsync(toLeader(FIRST, 0).build());
        next().answer();
        assertTrue(first.get(30, TimeUnit.SECONDS).isSuccess());
        rpc.sendRequestAsync(toLeader(SECOND, 1).build());
        assertEquals(SECOND, next().by());
    }

    @Test
    void shouldHoldLaterRequestsWhenAServerCannotBeReached() throws Exception {
        final RdmaClientRpc rpc = client();
        servers.removeFirst().close();
        assertInstanceOf(IOException.class, failureOf(rpc.sendRequestAsync(toLeader(FIRST, 0).build())));
        rpc.sendRequestAsync(toLeader(SECOND, 1).build());
        rpc.sendRequestAsync(toLeader(SECOND, 0).build());
        assertEquals(0, next().request().getCallId());
        assertEquals(1, next().request().getCallId());
    }

    @Test
    void shouldFailHeldRequestsOnClose() throws Exception {
        final RdmaClientRpc rpc = client();
        failureAfterRefusal(rpc, toLeader(FIRST, 5).build());
        failureAfterRefusal(rpc, toServer(FIRST, 5));
        final CompletableFuture<RaftClientReply> heldForLeader = rpc.sendRequestAsync(toLeader(SECOND, 6).build());
        final CompletableFuture<RaftClientReply> heldForServer = rpc.sendRequestAsync(toServer(FIRST, 6));
        rpc.close();
        assertInstanceOf(IOException.class, failureOf(heldForLeader));
        assertInstanceOf(IOException.class, failureOf(heldForServer));
        assertInstanceOf(IOException.class, failureOf(rpc.sendRequestAsync(request(FIRST, 7).build())));
    }

    private void failureAfterRefusal(final RdmaClientRpc rpc, final RaftClientRequest request) throws InterruptedException {
        final CompletableFuture<RaftClientReply> reply = rpc.sendRequestAsync(request);
        next().refuse(notLeader(FIRST));
        failureOf(reply);
    }

    @Test
    void shouldReportADeviceThatDoesNotExistAndANodeThatDoesNotOpen() {
        properties.set(RdmaConfigKeys.CLIENT_HOST_KEY, "198.51.100.1");
        final IOException noDevice = assertThrows(IOException.class, () -> client().sendRequest(request(FIRST, 1).build()));
        assertTrue(noDevice.getMessage().contains("no RDMA device for 198.51.100.1"), noDevice.getMessage());
        client.close();
        properties.unset(RdmaConfigKeys.CLIENT_HOST_KEY);
        properties.setInt(RdmaConfigKeys.POLLER_CPU_KEY, 4095);
        final IOException noNode = assertThrows(IOException.class, () -> client().sendRequest(request(FIRST, 1).build()));
        assertTrue(noNode.getMessage().contains("does not open"), noNode.getMessage());
    }
}
