package io.ringpoll.ratis;

import io.ringpoll.ratis.transport.MessageType;
import io.ringpoll.ratis.transport.RequestHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupListRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LeaderElectionManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.SetConfigurationRequestProto;
import org.apache.ratis.proto.RaftProtos.SnapshotManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.TransferLeadershipRequestProto;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.function.CheckedSupplier;

/**
 * Brings each request to the engine. What the engine takes to its own executors is called on the handler's thread; what it does
 * in the caller's thread, where it waits for locks and disks, is called on the executor.
 */
final class RequestDispatcher implements RequestHandler {
    private final RaftServer server;
    private final Executor executor;

    RequestDispatcher(final RaftServer server, final Executor executor) {
        this.server = server;
        this.executor = executor;
    }

    @Override
    public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
        try {
            return switch (type) {
                case REQUEST_VOTE -> blocking(() -> server.requestVote((RequestVoteRequestProto) request));
                case START_LEADER_ELECTION ->
                    blocking(() -> server.startLeaderElection((StartLeaderElectionRequestProto) request));
                case INSTALL_SNAPSHOT -> blocking(() -> server.installSnapshot((InstallSnapshotRequestProto) request));
                case APPEND_ENTRIES -> composed(() -> server.appendEntriesAsync((AppendEntriesRequestProto) request));
                case READ_INDEX -> server.readIndexAsync((ReadIndexRequestProto) request);
                case CLIENT_REQUEST -> reply(server.submitClientRequestAsync(
                    ClientProtoUtils.toRaftClientRequest((RaftClientRequestProto) request)));
                case GROUP_LIST -> server.getGroupListAsync(
                    ClientProtoUtils.toGroupListRequest((GroupListRequestProto) request))
                    .thenApply(ClientProtoUtils::toGroupListReplyProto);
                case GROUP_INFO -> server.getGroupInfoAsync(
                    ClientProtoUtils.toGroupInfoRequest((GroupInfoRequestProto) request))
                    .thenApply(ClientProtoUtils::toGroupInfoReplyProto);
                default -> composed(() -> reply(administer(type, request)));
            };
        } catch (final Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<RaftClientReply> administer(final MessageType type, final MessageLite request) throws Exception {
        return switch (type) {
            case SET_CONFIGURATION -> server.setConfigurationAsync(
                ClientProtoUtils.toSetConfigurationRequest((SetConfigurationRequestProto) request));
            case GROUP_MANAGEMENT -> server.groupManagementAsync(
                ClientProtoUtils.toGroupManagementRequest((GroupManagementRequestProto) request));
            case TRANSFER_LEADERSHIP -> server.transferLeadershipAsync(
                ClientProtoUtils.toTransferLeadershipRequest((TransferLeadershipRequestProto) request));
            case SNAPSHOT_MANAGEMENT -> server.snapshotManagementAsync(
                ClientProtoUtils.toSnapshotManagementRequest((SnapshotManagementRequestProto) request));
            case LEADER_ELECTION_MANAGEMENT -> server.leaderElectionManagementAsync(
                ClientProtoUtils.toLeaderElectionManagementRequest((LeaderElectionManagementRequestProto) request));
            default -> throw new UnsupportedOperationException("requests of type " + type);
        };
    }

    private static CompletableFuture<? extends MessageLite> reply(final CompletableFuture<RaftClientReply> reply) {
        return reply.thenApply(ClientProtoUtils::toRaftClientReplyProto);
    }

    private CompletableFuture<? extends MessageLite> blocking(
        final CheckedSupplier<? extends MessageLite, ? extends Exception> call) {
        return composed(() -> CompletableFuture.completedFuture(call.get()));
    }

    private CompletableFuture<? extends MessageLite> composed(
        final CheckedSupplier<CompletableFuture<? extends MessageLite>, ? extends Exception> call) {
        final CompletableFuture<MessageLite> result = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                call.get().whenComplete((reply, failure) -> {
                    if (failure != null) {
                        result.completeExceptionally(failure);
                    } else {
                        result.complete(reply);
                    }
                });
            } catch (final Exception e) {
                result.completeExceptionally(new CompletionException(e));
            }
        });
        return result;
    }
}
