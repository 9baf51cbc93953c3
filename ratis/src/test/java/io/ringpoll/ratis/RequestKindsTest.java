package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.RequestHandler;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupListReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupInfoReply;
import org.apache.ratis.protocol.GroupInfoRequest;
import org.apache.ratis.protocol.GroupListReply;
import org.apache.ratis.protocol.GroupListRequest;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each kind of request reaches its method of the engine, and its reply or exception the peer. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RequestKindsTest {
    private static final RaftGroupId GROUP = RaftGroupId.randomId();
    private static final ClientId CLIENT = ClientId.randomId();
    private static final RaftPeerId SERVER = RaftPeerId.valueOf("s");
    private static final List<RaftPeer> PEERS = List.of(RaftPeer.newBuilder().setId(SERVER).build());
    private static final long TERM = 7;
    private static final RaftRpcRequestProto HEADER = RaftRpcRequestProto.newBuilder().setRequestorId(SERVER.toByteString())
        .setReplyId(SERVER.toByteString()).setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString())).build();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final RaftServer server = mock(RaftServer.class);
    private final RequestHandler handler = new RequestDispatcher(server, executor, executor).forConnection();

    @BeforeEach
    void name() {
        when(server.getId()).thenReturn(SERVER);
    }

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    private MessageLite ask(final MessageType type, final MessageLite request) throws Exception {
        return handler.handle(type, request).get(30, TimeUnit.SECONDS);
    }

    private static CompletableFuture<RaftClientReply> success(final RaftClientRequest request) {
        return CompletableFuture.completedFuture(RaftClientReply.newBuilder().setRequest(request).setSuccess().build());
    }

    private void assertAnswered(final RaftClientRequest request, final MessageType type, final MessageLite message)
        throws Exception {
        final RaftClientReplyProto reply = assertInstanceOf(RaftClientReplyProto.class, ask(type, message));
        assertEquals(request.getCallId(), reply.getRpcReply().getCallId());
        assertEquals(CLIENT.toByteString(), reply.getRpcReply().getRequestorId());
    }

    @Test
    void shouldPassRequestsOfOtherServers() throws Exception {
        when(server.requestVote(any())).thenReturn(RequestVoteReplyProto.newBuilder().setTerm(1).build());
        when(server.startLeaderElection(any())).thenReturn(StartLeaderElectionReplyProto.getDefaultInstance());
        when(server.installSnapshot(any())).thenReturn(InstallSnapshotReplyProto.newBuilder().setTerm(2).build());
        when(server.appendEntriesAsync(any()))
            .thenReturn(CompletableFuture.completedFuture(AppendEntriesReplyProto.newBuilder().setTerm(3).build()));
        when(server.readIndexAsync(any()))
            .thenReturn(CompletableFuture.completedFuture(ReadIndexReplyProto.newBuilder().setReadIndex(4).build()));
        final RaftServer.Division group = mock(RaftServer.Division.class);
        final RaftConfiguration members = mock(RaftConfiguration.class);
        when(server.getDivision(GROUP)).thenReturn(group);
        when(group.getRaftConf()).thenReturn(members);
        when(members.getPeer(SERVER, RaftPeerRole.FOLLOWER, RaftPeerRole.LISTENER)).thenReturn(PEERS.getFirst());
        assertEquals(RequestVoteReplyProto.newBuilder().setTerm(1).build(),
            ask(MessageType.REQUEST_VOTE, RequestVoteRequestProto.newBuilder().setServerRequest(HEADER).build()));
        assertEquals(StartLeaderElectionReplyProto.getDefaultInstance(),
            ask(MessageType.START_LEADER_ELECTION,
                StartLeaderElectionRequestProto.newBuilder().setServerRequest(HEADER).build()));
        assertEquals(InstallSnapshotReplyProto.newBuilder().setTerm(2).build(),
            ask(MessageType.INSTALL_SNAPSHOT, InstallSnapshotRequestProto.newBuilder().setServerRequest(HEADER).build()));
        assertEquals(AppendEntriesReplyProto.newBuilder().setTerm(3).build(),
            ask(MessageType.APPEND_ENTRIES, AppendEntriesRequestProto.newBuilder().setServerRequest(HEADER).build()));
        assertEquals(ReadIndexReplyProto.newBuilder().setReadIndex(4).build(),
            ask(MessageType.READ_INDEX, ReadIndexRequestProto.newBuilder().setServerRequest(HEADER).build()));
    }

    @Test
    void shouldPassRequestsOfAdministrators() throws Exception {
        when(server.setConfigurationAsync(any())).thenAnswer(call -> success(call.getArgument(0)));
        when(server.groupManagementAsync(any())).thenAnswer(call -> success(call.getArgument(0)));
        when(server.transferLeadershipAsync(any())).thenAnswer(call -> success(call.getArgument(0)));
        when(server.snapshotManagementAsync(any())).thenAnswer(call -> success(call.getArgument(0)));
        when(server.leaderElectionManagementAsync(any())).thenAnswer(call -> success(call.getArgument(0)));
        final SetConfigurationRequest configuration = new SetConfigurationRequest(CLIENT, SERVER, GROUP, 1, PEERS);
        assertAnswered(configuration, MessageType.SET_CONFIGURATION,
            ClientProtoUtils.toSetConfigurationRequestProto(configuration));
        final GroupManagementRequest management =
            GroupManagementRequest.newAdd(CLIENT, SERVER, 2, RaftGroup.valueOf(GROUP, PEERS));
        assertAnswered(management, MessageType.GROUP_MANAGEMENT, ClientProtoUtils.toGroupManagementRequestProto(management));
        final TransferLeadershipRequest transfer = new TransferLeadershipRequest(CLIENT, SERVER, GROUP, 3, SERVER, 1000);
        assertAnswered(transfer, MessageType.TRANSFER_LEADERSHIP, ClientProtoUtils.toTransferLeadershipRequestProto(transfer));
        final SnapshotManagementRequest snapshot = SnapshotManagementRequest.newCreate(CLIENT, SERVER, GROUP, 4, 1000);
        assertAnswered(snapshot, MessageType.SNAPSHOT_MANAGEMENT, ClientProtoUtils.toSnapshotManagementRequestProto(snapshot));
        final LeaderElectionManagementRequest election = LeaderElectionManagementRequest.newPause(CLIENT, SERVER, GROUP, 5);
        assertAnswered(election, MessageType.LEADER_ELECTION_MANAGEMENT,
            ClientProtoUtils.toLeaderElectionManagementRequestProto(election));
    }

    @Test
    void shouldPassQuestionsAboutGroups() throws Exception {
        when(server.getGroupListAsync(any())).thenAnswer(call ->
            CompletableFuture.completedFuture(new GroupListReply(call.<GroupListRequest>getArgument(0), List.of(GROUP))));
        when(server.getGroupInfoAsync(any())).thenAnswer(call -> CompletableFuture.completedFuture(new GroupInfoReply(
            call.<GroupInfoRequest>getArgument(0), List.of(), RaftGroup.valueOf(GROUP, PEERS), RoleInfoProto.getDefaultInstance(),
            true, RaftConfigurationProto.getDefaultInstance(), LogInfoProto.getDefaultInstance())));
        final MessageLite list = ask(MessageType.GROUP_LIST,
            ClientProtoUtils.toGroupListRequestProto(new GroupListRequest(CLIENT, SERVER, GROUP, 1)));
        assertEquals(List.of(GROUP), ClientProtoUtils.toGroupListReply((GroupListReplyProto) list).getGroupIds());
        final MessageLite info = ask(MessageType.GROUP_INFO,
            ClientProtoUtils.toGroupInfoRequestProto(new GroupInfoRequest(CLIENT, SERVER, GROUP, 2)));
        assertEquals(GROUP, ClientProtoUtils.toGroupInfoReply((GroupInfoReplyProto) info).getGroup().getGroupId());
    }

    @Test
    void shouldSubmitToTheServerIfTheGroupTakesNoRequests() throws Exception {
        final RaftServer.Division group = mock(RaftServer.Division.class);
        when(server.getDivision(GROUP)).thenReturn(group);
        when(server.submitClientRequestAsync(any(RaftClientRequest.class))).thenAnswer(call -> success(call.getArgument(0)));
        final RaftClientRequest write = RaftClientRequest.newBuilder().setClientId(CLIENT).setServerId(SERVER).setGroupId(GROUP)
            .setCallId(9).setMessage(Message.EMPTY).setType(RaftClientRequest.writeRequestType()).build();
        assertAnswered(write, MessageType.CLIENT_REQUEST, ClientProtoUtils.toRaftClientRequestProto(write));
        verify(server).submitClientRequestAsync(any(RaftClientRequest.class));
    }

    @Test
    void shouldReplyWithAFailureThatFollowsLater() {
        when(server.snapshotManagementAsync(any()))
            .thenReturn(CompletableFuture.failedFuture(new IOException("on purpose")));
        final SnapshotManagementRequest snapshot = SnapshotManagementRequest.newCreate(CLIENT, SERVER, GROUP, 4, 1000);
        final Throwable failure = assertThrows(ExecutionException.class, () ->
            ask(MessageType.SNAPSHOT_MANAGEMENT, ClientProtoUtils.toSnapshotManagementRequestProto(snapshot)));
        assertEquals("on purpose", failure.getCause().getMessage());
    }

    @Test
    void shouldReplyWithAnAssertionErrorOfTheEngine() throws Exception {
        when(server.requestVote(any())).thenThrow(new AssertionError("on purpose"));
        final Throwable failure = assertThrows(ExecutionException.class, () ->
            ask(MessageType.REQUEST_VOTE, RequestVoteRequestProto.newBuilder().setServerRequest(HEADER).build()));
        assertInstanceOf(AssertionError.class, failure.getCause());
    }
}
