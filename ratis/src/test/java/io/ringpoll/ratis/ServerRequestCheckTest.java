package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.ProtoUtils;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests of members and others to a server of a real group: a leader that runs, and a listener that does not. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ServerRequestCheckTest {
    private static final RaftPeerId SELF = RaftPeerId.valueOf("check-s");
    private static final String LISTENER = "check-listener";
    private static final String STRANGER = "check-stranger";
    private static final long LATER_TERM = 1_000;
    private static final TimeDuration NO_ELECTION = TimeDuration.valueOf(60, TimeUnit.SECONDS);

    @TempDir
    private Path folder;
    private RaftGroup group;
    private RaftServer server;
    private RequestDispatcher handler;

    @BeforeEach
    void start() throws Exception {
        group = RaftGroup.valueOf(RaftGroupId.randomId(),
            RaftPeer.newBuilder().setId(SELF).setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build(),
            RaftPeer.newBuilder().setId(LISTENER).setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort())
                .setStartupRole(RaftPeerRole.LISTENER).build());
        final RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        // It follows a leader that sends nothing more for the time of a test.
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, NO_ELECTION);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, NO_ELECTION.multiply(2));
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, TimeDuration.valueOf(10, TimeUnit.MILLISECONDS));
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, TimeDuration.valueOf(20, TimeUnit.MILLISECONDS));
        server = RaftServer.newBuilder().setServerId(SELF).setProperties(properties).setGroup(group)
            .setStateMachineRegistry(id -> new BaseStateMachine()).build();
        server.start();
        try (RaftClient client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group).build()) {
            // It is the leader.
            assertTrue(client.io().send(Message.valueOf("first")).isSuccess());
        }
        handler = new RequestDispatcher(server, Runnable::run, Runnable::run);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private RaftRpcRequestProto header(final String sender, final RaftPeerId destination) {
        return RaftRpcRequestProto.newBuilder().setRequestorId(ByteString.copyFromUtf8(sender))
            .setReplyId(destination.toByteString())
            .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(group.getGroupId())).build();
    }

    private Map<MessageType, MessageLite> requests(final RaftRpcRequestProto header) {
        final RaftClientRequest read = RaftClientRequest.newBuilder().setClientId(ClientId.randomId()).setServerId(SELF)
            .setGroupId(group.getGroupId()).setCallId(1).setMessage(Message.EMPTY)
            .setType(RaftClientRequest.readRequestType()).build();
        return Map.of(
            MessageType.REQUEST_VOTE, RequestVoteRequestProto.newBuilder().setServerRequest(header).build(),
            MessageType.APPEND_ENTRIES, AppendEntriesRequestProto.newBuilder().setServerRequest(header).build(),
            MessageType.INSTALL_SNAPSHOT, InstallSnapshotRequestProto.newBuilder().setServerRequest(header).build(),
            MessageType.START_LEADER_ELECTION, StartLeaderElectionRequestProto.newBuilder().setServerRequest(header).build(),
            MessageType.READ_INDEX, ReadIndexRequestProto.newBuilder().setServerRequest(header)
                .setClientRequest(ClientProtoUtils.toRaftClientRequestProto(read)).build());
    }

    private MessageLite ask(final MessageType type, final MessageLite request) throws Exception {
        return handler.handle(type, request).get(30, TimeUnit.SECONDS);
    }

    private void assertRefused(final MessageType type, final MessageLite request, final String reason) {
        final CompletableFuture<? extends MessageLite> reply = handler.handle(type, request);
        final Throwable failure =
            assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS), type::toString).getCause();
        assertInstanceOf(RaftException.class, failure);
        assertTrue(failure.getMessage().contains(reason), failure::toString);
    }

    @Test
    void shouldRefuseEveryRequestOfServersForAnotherServer() {
        requests(header(LISTENER, RaftPeerId.valueOf("check-other"))).forEach(
            (type, request) -> assertRefused(type, request, type + " for server check-other has reached check-s"));
    }

    @Test
    void shouldStartAnElectionAndGiveAReadIndexForMembersOnly() throws Exception {
        for (final MessageType type : List.of(MessageType.START_LEADER_ELECTION, MessageType.READ_INDEX)) {
            assertRefused(type, requests(header(STRANGER, SELF)).get(type), type + " of a server that is not a member of ");
            for (final String member : List.of(LISTENER, SELF.toString())) {
                ask(type, requests(header(member, SELF)).get(type));
            }
        }
    }

    /** The engine's own check. */
    @Test
    void shouldVoteForMembersOnly() throws Exception {
        final RequestVoteRequestProto request = (RequestVoteRequestProto) requests(header(STRANGER, SELF))
            .get(MessageType.REQUEST_VOTE);
        final RequestVoteReplyProto reply = (RequestVoteReplyProto) ask(MessageType.REQUEST_VOTE,
            request.toBuilder().setCandidateTerm(LATER_TERM).build());
        assertFalse(reply.getServerReply().getSuccess(), reply::toString);
    }

    /** It has been added while this server did not run: Raft would not work otherwise. */
    @Test
    void shouldFollowALeaderThatItDoesNotKnow() throws Exception {
        final AppendEntriesRequestProto request = (AppendEntriesRequestProto) requests(header(STRANGER, SELF))
            .get(MessageType.APPEND_ENTRIES);
        final AppendEntriesReplyProto reply = (AppendEntriesReplyProto) ask(MessageType.APPEND_ENTRIES,
            request.toBuilder().setLeaderTerm(LATER_TERM).build());
        assertNotEquals(AppendResult.NOT_LEADER, reply.getResult());
        assertEquals(STRANGER, server.getDivision(group.getGroupId()).getInfo().getLeaderId().toString());
        // It may ask for a read index now, and pass its leadership on.
        assertDoesNotThrow(() -> ask(MessageType.START_LEADER_ELECTION,
            requests(header(STRANGER, SELF)).get(MessageType.START_LEADER_ELECTION)));
    }
}
