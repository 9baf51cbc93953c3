package io.ringpoll.ratis;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.RequestHandler;
import io.ringpoll.internal.transport.RequestThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.ProtoUtils;
import org.apache.ratis.util.function.CheckedSupplier;

/**
 * Passes the requests of a connection to the engine on the server's request threads, because the engine may block on locks, disks
 * or the state machine. The frequent ones, those of clients, entries and heartbeats, may also run on the polling thread, which
 * another one then replaces ({@link RequestThreads}).
 *
 * <p>A client's requests are passed in order, one at a time over all its connections, because the engine appends in the order of
 * the calls. Those that wait at the end of the connection are dropped: the client sends them again. Entries are passed in order,
 * by the {@link AppendQueue} of their group; heartbeats overtake them.
 */
final class RequestDispatcher implements RequestHandler {
    private final RaftServer server;
    private final Executor executor;
    /** For requests that are rare or take long. */
    private final Executor others;
    private final ClientQueues clients;
    private final AppendQueues appends;
    private final ServerRequestCheck check;
    private final RefusedRequests refused = new RefusedRequests();
    /** The client whose request was the first one, and its queue; null before. */
    private ByteString client;
    private volatile SerialExecutor inOrder;
    private volatile boolean ended;

    /**
     * Creates the handler of a server.
     *
     * @param executor for client requests, entries and heartbeats
     * @param others   for all other requests
     */
    RequestDispatcher(final RaftServer server, final Executor executor, final Executor others) {
        this(server, executor, others, new ClientQueues(executor));
    }

    RequestDispatcher(final RaftServer server, final Executor executor, final Executor others, final ClientQueues clients) {
        this.server = server;
        this.executor = executor;
        this.others = others;
        this.clients = clients;
        appends = new AppendQueues(server, executor);
        check = new ServerRequestCheck(server);
    }

    /** Creates the handler of a connection. */
    private RequestDispatcher(final RequestDispatcher ofServer) {
        server = ofServer.server;
        executor = ofServer.executor;
        others = ofServer.others;
        clients = ofServer.clients;
        appends = ofServer.appends;
        check = ofServer.check;
    }

    @Override
    public RequestHandler forConnection() {
        return new RequestDispatcher(this);
    }

    /** The client leaves its queue behind the requests of this connection, of which no other one starts. */
    @Override
    public synchronized void onEnd() {
        ended = true;
        if (inOrder != null) {
            try {
                inOrder.execute(() -> clients.leave(client));
            } catch (final RejectedExecutionException e) {
                // The server is closing.
                return;
            }
        }
    }

    @Override
    public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
        return handle(type, request, () -> { });
    }

    @Override
    public CompletableFuture<? extends MessageLite> handle(
        final MessageType type, final MessageLite request, final Runnable taken) {
        final CompletableFuture<MessageLite> result = new CompletableFuture<>();
        final Runnable task = () -> call(result, () -> ask(type, request), taken);
        try {
            if (type == MessageType.APPEND_ENTRIES) {
                append((AppendEntriesRequestProto) request, task, taken, result);
            } else {
                execute(type, request, task);
            }
        } catch (final RuntimeException e) {
            // The server is closing and accepts no more requests.
            taken.run();
            result.completeExceptionally(e);
        }
        return result;
    }

    private void execute(final MessageType type, final MessageLite request, final Runnable task) {
        if (type == MessageType.CLIENT_REQUEST) {
            // After the client's earlier requests.
            queueOf((RaftClientRequestProto) request).execute(task);
        } else {
            others.execute(task);
        }
    }

    private void append(final AppendEntriesRequestProto request, final Runnable task, final Runnable taken,
        final CompletableFuture<?> result) {
        final AppendQueue queue = request.getEntriesCount() > 0 ? appends.of(groupOf(request)) : null;
        if (queue != null) {
            final AppendQueue.Request queued = new AppendQueue.Request(request, task, taken, result);
            result.whenComplete((reply, failure) -> queue.end(queued));
            queue.add(queued);
        } else {
            executor.execute(task);
        }
    }

    private static RaftGroupId groupOf(final AppendEntriesRequestProto request) {
        return ProtoUtils.toRaftGroupId(request.getServerRequest().getRaftGroupId());
    }

    private SerialExecutor queueOf(final RaftClientRequestProto request) {
        final SerialExecutor queue = inOrder;
        return queue != null ? queue : enterQueue(request.getRpcRequest().getRequestorId());
    }

    private synchronized SerialExecutor enterQueue(final ByteString of) {
        if (ended) {
            throw new RejectedExecutionException("the connection has ended");
        }
        client = of;
        inOrder = clients.enter(of);
        return inOrder;
    }

    private CompletableFuture<? extends MessageLite> ask(final MessageType type, final MessageLite request) throws Exception {
        check.check(type, request);
        return switch (type) {
            case REQUEST_VOTE -> CompletableFuture.completedFuture(server.requestVote((RequestVoteRequestProto) request));
            case START_LEADER_ELECTION ->
                CompletableFuture.completedFuture(server.startLeaderElection((StartLeaderElectionRequestProto) request));
            case INSTALL_SNAPSHOT ->
                CompletableFuture.completedFuture(server.installSnapshot((InstallSnapshotRequestProto) request));
            case APPEND_ENTRIES -> server.appendEntriesAsync((AppendEntriesRequestProto) request);
            case READ_INDEX -> server.readIndexAsync((ReadIndexRequestProto) request);
            case GROUP_LIST -> server.getGroupListAsync(ClientProtoUtils.toGroupListRequest((GroupListRequestProto) request))
                .thenApply(ClientProtoUtils::toGroupListReplyProto);
            case GROUP_INFO -> server.getGroupInfoAsync(ClientProtoUtils.toGroupInfoRequest((GroupInfoRequestProto) request))
                .thenApply(ClientProtoUtils::toGroupInfoReplyProto);
            case CLIENT_REQUEST -> reply(submitInOrder(ClientProtoUtils.toRaftClientRequest((RaftClientRequestProto) request)));
            default -> reply(administer(type, request));
        };
    }

    private CompletableFuture<RaftClientReply> submitInOrder(final RaftClientRequest request) throws Exception {
        if (ended) {
            // The client may have left the queue.
            throw new AlreadyClosedException("the connection has ended");
        }
        return refused.submit(request, () -> submit(request));
    }

    /**
     * Submits directly to the group. The server's own method would use another of its threads and wait for it.
     */
    private CompletableFuture<RaftClientReply> submit(final RaftClientRequest request) throws Exception {
        return server.getDivision(request.getRaftGroupId()) instanceof final RaftClientAsynchronousProtocol group ?
            group.submitClientRequestAsync(request) : server.submitClientRequestAsync(request);
    }

    private CompletableFuture<RaftClientReply> administer(final MessageType type, final MessageLite request) throws Exception {
        return switch (type) {
            case SET_CONFIGURATION -> server.setConfigurationAsync(
                ClientProtoUtils.toSetConfigurationRequest((SetConfigurationRequestProto) request));
            case GROUP_MANAGEMENT -> server.groupManagementAsync(
                ClientProtoUtils.toGroupManagementRequest((GroupManagementRequestProto) request))
                .whenComplete((reply, failure) -> appends.closeRemoved());
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

    private static void call(final CompletableFuture<MessageLite> result,
        final CheckedSupplier<CompletableFuture<? extends MessageLite>, ? extends Exception> call, final Runnable taken) {
        final CompletableFuture<? extends MessageLite> answer;
        try {
            answer = call.get();
        } catch (final Exception | Error e) {
            // Without a reply, the client would wait and the credit of the request would be lost.
            taken.run();
            result.completeExceptionally(new CompletionException(e));
            return;
        }
        // Before the reply, which returns the credit.
        taken.run();
        answer.whenComplete((reply, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else {
                result.complete(reply);
            }
        });
    }
}
