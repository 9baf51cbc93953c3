package io.ringpoll.ratis;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.MessageTooLongException;
import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.NodeConfig;
import io.ringpoll.internal.transport.PeerRole;
import io.ringpoll.internal.transport.StreamPacket;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.os.WaitInterruptedException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.client.impl.RaftClientRpcWithProxy;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.GroupInfoReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupListReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupInfoRequest;
import org.apache.ratis.protocol.GroupListRequest;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.StateMachineException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.JavaUtils;
import org.apache.ratis.util.TimeDuration;

/**
 * The transport of an engine's client: sends its requests to servers. The first request starts its threads. Thread-safe.
 * Asynchronous requests complete on a handler's thread, so dependent actions must not wait for another reply.
 */
final class RdmaClientRpc extends RaftClientRpcWithProxy<RdmaProxy> {
    /**
     * Pause before the failure of an attempt to a server that is not reached: by default the engine's client takes another one at
     * once. Short beside an election: it delays the first request to a new leader.
     */
    static final int UNREACHED_PAUSE_MS = 2;

    private final ClientNode node;
    private final RdmaProxyMap servers;
    private final TimeDuration requestTimeout;
    private final TimeDuration watchTimeout;
    private final ExecutorService retries;
    /** Requests to the leader and requests to a named server are numbered separately. */
    private final RequestSeries toLeader = new RequestSeries();
    private final Map<RaftPeerId, RequestSeries> toServer = new ConcurrentHashMap<>();
    /** The last blocking call of a thread that was interrupted. */
    private final ThreadLocal<Long> interruptedCall = new ThreadLocal<>();

    RdmaClientRpc(final ClientId clientId, final RaftProperties properties) {
        this(new ClientNode(clientId, properties), clientId, properties);
    }

    private RdmaClientRpc(final ClientNode node, final ClientId clientId, final RaftProperties properties) {
        this(node, new RdmaProxyMap(clientId.toString(), properties, node::open), clientId, properties);
    }

    private RdmaClientRpc(final ClientNode node, final RdmaProxyMap servers, final ClientId clientId,
        final RaftProperties properties) {
        super(servers);
        Prerequisites.requireOfClient();
        RdmaConfig.checkClient(properties);
        this.node = node;
        this.servers = servers;
        requestTimeout = RaftClientConfigKeys.Rpc.requestTimeout(properties);
        watchTimeout = RaftClientConfigKeys.Rpc.watchRequestTimeout(properties);
        retries = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name(clientId + "-rdma-retry-", 0).factory());
    }

    /** A client's node, opened for the first server; the address of that server determines the device. */
    private static final class ClientNode {
        private final ClientId clientId;
        private final RaftProperties properties;
        private final TransportCounters counters = new TransportCounters();
        private Node node;
        private boolean closed;

        private ClientNode(final ClientId clientId, final RaftProperties properties) {
            this.clientId = clientId;
            this.properties = properties;
        }

        private synchronized Node open(final InetSocketAddress server) throws IOException {
            if (closed) {
                throw new AlreadyClosedException(clientId + " is closed");
            }
            if (node == null) {
                // A client's own poller has none: clients are many and short-lived.
                final boolean countersFile = RdmaConfigKeys.pollerShared(properties) && RdmaConfigKeys.countersFile(properties);
                final NodeConfig config = RdmaConfig.nodeConfig(properties, clientId + "-rdma", countersFile)
                    .with(RdmaConfig.access(properties, PeerRole.CLIENT, clientId.toString()));
                node = open(config, device(server));
            }
            return node;
        }

        private RcPeer device(final InetSocketAddress server) throws IOException {
            final RdmaApi api = RdmaConfig.api(properties);
            final String host = RdmaConfigKeys.clientHost(properties);
            try {
                return host != null ? api.ofLocal(host) : api.ofRemote(server.getAddress().getHostAddress());
            } catch (final WaitInterruptedException e) {
                throw new InterruptedIOException(
                    "interrupted while looking for the device for " + (host != null ? host : server));
            } catch (final RdmaException | IllegalStateException e) {
                throw new IOException("no RDMA device for " + (host != null ? host : server) + ": " + e.getMessage(), e);
            }
        }

        private Node open(final NodeConfig config, final RcPeer peer) throws IOException {
            try {
                return new Node(config, peer, (type, request) -> refuse(request), counters);
            } catch (final RuntimeException | OutOfMemoryError e) {
                // A thread that cannot be created is the latter.
                throw new IOException(config.name() + " does not open: " + e.getMessage(), e);
            }
        }

        private static CompletableFuture<MessageLite> refuse(final MessageLite request) {
            if (request instanceof final StreamPacket packet) {
                packet.release();
            }
            return CompletableFuture.failedFuture(new UnsupportedOperationException("a client serves no requests"));
        }

        private synchronized boolean isHandlerThread() {
            return node == null ? Node.isSharedHandlerThread() : node.isHandlerThread();
        }

        private synchronized boolean isClosed() {
            return closed;
        }

        private void close() {
            final Node open;
            synchronized (this) {
                closed = true;
                open = node;
            }
            if (open != null) {
                open.close();
            }
        }
    }

    @Override
    public CompletableFuture<RaftClientReply> sendRequestAsync(final RaftClientRequest request) {
        if (!RequestSeries.isOrdered(request)) {
            return sendRequestAsyncUnordered(request);
        }
        final RequestSeries series = request.isToLeader() ? toLeader :
            toServer.computeIfAbsent(request.getServerId(), server -> new RequestSeries());
        final long number = request.getSlidingWindowEntry().getSeqNum();
        if (mustConnectElsewhere(request)) {
            series.notSent(number);
            return sendElsewhere(request);
        }
        final CompletableFuture<RaftClientReply> result = new CompletableFuture<>();
        try {
            final MessageLite message = toProto(MessageType.CLIENT_REQUEST, request);
            final RaftPeerId server = request.getServerId();
            // Opens a connection if there is none.
            getProxies().getProxy(server);
            series.send(number, () -> servers.latest(server), proxy -> send(proxy, request, message, result, failed -> {
                if (failed) {
                    series.failed(number);
                } else {
                    series.answered();
                }
            }));
        } catch (final IOException | RuntimeException e) {
            series.notSent(number);
            return failed(e);
        }
        return result;
    }

    /** Whether the calling thread must not wait, but a connection must be opened for a request. */
    private boolean mustConnectElsewhere(final RaftClientRequest request) {
        return !servers.isConnected(request.getServerId()) && node.isHandlerThread();
    }

    private CompletableFuture<RaftClientReply> sendElsewhere(final RaftClientRequest request) {
        final CompletableFuture<RaftClientReply> result = new CompletableFuture<>();
        onRetryThread(() -> sendRequestAsync(request).whenComplete((reply, failure) -> {
            if (failure == null) {
                result.complete(reply);
            } else {
                result.completeExceptionally(failure);
            }
        }));
        return result;
    }

    @Override
    public CompletableFuture<RaftClientReply> sendRequestAsyncUnordered(final RaftClientRequest request) {
        if (mustConnectElsewhere(request)) {
            return sendElsewhere(request);
        }
        final CompletableFuture<RaftClientReply> result = new CompletableFuture<>();
        try {
            send(getProxies().getProxy(request.getServerId()), request, toProto(typeOf(request), request), result,
                failed -> { });
        } catch (final IOException | RuntimeException e) {
            return failed(e);
        }
        return result;
    }

    /** The end of a request that was not sent: after a pause if its server is not reached. */
    private CompletableFuture<RaftClientReply> failed(final Exception reason) {
        if (!(reason instanceof ConnectException)) {
            return JavaUtils.completeExceptionally(reason);
        }
        final CompletableFuture<RaftClientReply> result = new CompletableFuture<>();
        CompletableFuture.delayedExecutor(UNREACHED_PAUSE_MS, TimeUnit.MILLISECONDS, this::onRetryThread)
            .execute(() -> result.completeExceptionally(reason));
        return result;
    }

    private void send(final RdmaProxy proxy, final RaftClientRequest request, final MessageLite message,
        final CompletableFuture<RaftClientReply> result, final EndListener listener) {
        final TimeDuration timeout = request.is(RaftClientRequestProto.TypeCase.WATCH) ? watchTimeout : requestTimeout;
        proxy.sendAsync(typeOf(request), message, timeout).thenApply(RdmaClientRpc::toAnswer).whenComplete((reply, failure) -> {
            final Throwable cause = failure == null ? null : JavaUtils.unwrapCompletionException(failure);
            final boolean refused = cause instanceof MessageTooLongException;
            listener.onEnd(cause != null && !refused);
            if (cause == null) {
                result.complete(reply);
            } else if (refused) {
                onRetryThread(() -> result.complete(refusal(request, cause)));
            } else {
                final Throwable reason = cause instanceof TimeoutException ?
                    new TimeoutIOException(request + " had no reply in " + timeout, cause) : cause;
                onRetryThread(() -> result.completeExceptionally(reason));
            }
        });
    }

    /**
     * The reply to a request that will fail as often as it is sent. The engine's client retries after any exception of a
     * transport; a {@link StateMachineException} in a reply is the one that it passes to the caller. The engine uses it, too, for
     * entries that are too long.
     */
    private static RaftClientReply refusal(final RaftClientRequest request, final Throwable reason) {
        return RaftClientReply.newBuilder().setRequest(request)
            .setException(new StateMachineException(reason.getMessage(), reason)).build();
    }

    /** Converts a reply; throws if the engine must retry with another server or with the same one. */
    private static RaftClientReply toAnswer(final MessageLite message) {
        final RaftClientReply reply = toReply(message);
        if (reply.getNotLeaderException() != null) {
            throw new CompletionException(reply.getNotLeaderException());
        }
        if (reply.getLeaderNotReadyException() != null) {
            throw new CompletionException(reply.getLeaderNotReadyException());
        }
        return reply;
    }

    /** Called at the end of a request, before the engine is notified. */
    @FunctionalInterface
    private interface EndListener {
        void onEnd(boolean failed);
    }

    /**
     * Ends a failed request on another thread: the engine may open another connection, which this connection's thread must not
     * wait for.
     */
    private void onRetryThread(final Runnable end) {
        try {
            retries.execute(end);
        } catch (final RejectedExecutionException e) {
            // The client is closed: no other connection will be opened.
            end.run();
        }
    }

    @Override
    public RaftClientReply sendRequest(final RaftClientRequest request) throws IOException {
        if (node.isHandlerThread()) {
            throw new IllegalStateException(
                "a callback on the thread that would receive the reply cannot wait for it: " + request);
        }
        final Long call = request.getCallId();
        if (!Thread.currentThread().isInterrupted() || !call.equals(interruptedCall.get())) {
            try {
                return waitFor(request);
            } catch (final InterruptedIOException e) {
                interruptedCall.set(call);
                throw e;
            }
        }
        // The engine's client has a policy without pauses, which an interrupt would end: it would try again for ever.
        Thread.interrupted();
        try {
            return waitFor(request);
        } finally {
            Thread.currentThread().interrupt();
        }
    }

    private RaftClientReply waitFor(final RaftClientRequest request) throws IOException {
        final MessageType type = typeOf(request);
        final TimeDuration timeout = request.is(RaftClientRequestProto.TypeCase.WATCH) ? watchTimeout :
            requestTimeout.add(request.getTimeoutMs(), TimeUnit.MILLISECONDS);
        try {
            return toReply(proxyTo(request.getServerId()).send(type, toProto(type, request), timeout));
        } catch (final AlreadyClosedException e) {
            if (node.isClosed()) {
                throw e;
            }
            // The connection, not the client: the engine's blocking calls retry after any other exception of a transport.
            throw new IOException(e.getMessage(), e);
        } catch (final MessageTooLongException e) {
            if (type == MessageType.GROUP_LIST || type == MessageType.GROUP_INFO) {
                // These have replies of their own, and are not retried.
                throw e;
            }
            return refusal(request, e);
        }
    }

    private RdmaProxy proxyTo(final RaftPeerId server) throws IOException {
        try {
            return getProxies().getProxy(server);
        } catch (final ConnectException e) {
            try {
                TimeUnit.MILLISECONDS.sleep(UNREACHED_PAUSE_MS);
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw IOUtils.toInterruptedIOException("interrupted after a failed connect to " + server, interrupted);
            }
            throw e;
        }
    }

    private static MessageType typeOf(final RaftClientRequest request) {
        return switch (request) {
            case final GroupManagementRequest management -> MessageType.GROUP_MANAGEMENT;
            case final SetConfigurationRequest configuration -> MessageType.SET_CONFIGURATION;
            case final GroupListRequest list -> MessageType.GROUP_LIST;
            case final GroupInfoRequest info -> MessageType.GROUP_INFO;
            case final TransferLeadershipRequest transfer -> MessageType.TRANSFER_LEADERSHIP;
            case final SnapshotManagementRequest snapshot -> MessageType.SNAPSHOT_MANAGEMENT;
            case final LeaderElectionManagementRequest election -> MessageType.LEADER_ELECTION_MANAGEMENT;
            default -> MessageType.CLIENT_REQUEST;
        };
    }

    private static MessageLite toProto(final MessageType type, final RaftClientRequest request) {
        return switch (type) {
            case GROUP_MANAGEMENT -> ClientProtoUtils.toGroupManagementRequestProto((GroupManagementRequest) request);
            case SET_CONFIGURATION -> ClientProtoUtils.toSetConfigurationRequestProto((SetConfigurationRequest) request);
            case GROUP_LIST -> ClientProtoUtils.toGroupListRequestProto((GroupListRequest) request);
            case GROUP_INFO -> ClientProtoUtils.toGroupInfoRequestProto((GroupInfoRequest) request);
            case TRANSFER_LEADERSHIP ->
                ClientProtoUtils.toTransferLeadershipRequestProto((TransferLeadershipRequest) request);
            case SNAPSHOT_MANAGEMENT ->
                ClientProtoUtils.toSnapshotManagementRequestProto((SnapshotManagementRequest) request);
            case LEADER_ELECTION_MANAGEMENT ->
                ClientProtoUtils.toLeaderElectionManagementRequestProto((LeaderElectionManagementRequest) request);
            default -> ClientProtoUtils.toRaftClientRequestProto(request);
        };
    }

    private static RaftClientReply toReply(final MessageLite message) {
        return switch (message) {
            case final GroupListReplyProto list -> ClientProtoUtils.toGroupListReply(list);
            case final GroupInfoReplyProto info -> ClientProtoUtils.toGroupInfoReply(info);
            default -> ClientProtoUtils.toRaftClientReply((RaftClientReplyProto) message);
        };
    }

    /** A transport for the streams of this client, with a connection of its own; closed by its owner, or with this client. */
    RdmaDataStreamClientRpc streamsTo(final RaftPeer primary, final RaftGroupId group, final RaftProperties properties) {
        return new RdmaDataStreamClientRpc(primary, group,
            new RdmaProxyMap(node.clientId + "-streams", properties, node::open), node::isHandlerThread, properties);
    }

    TransportCounters counters() {
        return node.counters;
    }

    @Override
    public void close() {
        super.close();
        node.close();
        toLeader.close();
        toServer.values().forEach(RequestSeries::close);
        retries.shutdown();
    }
}
