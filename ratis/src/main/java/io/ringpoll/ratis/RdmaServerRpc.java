package io.ringpoll.ratis;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.TransportCounters;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.function.CheckedRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transport of a server: serves peers and clients, and sends the engine's requests to peers. Thread-safe.
 */
class RdmaServerRpc extends RaftServerRpcWithProxy<RdmaProxy, RdmaProxyMap>
    implements RaftServerAsynchronousProtocol {
    /** Name of the engine's injection point for tests, called before a server sends a request. */
    static final String SEND_SERVER_REQUEST = RdmaServerRpc.class.getSimpleName() + ".sendServerRequest";

    private static final Logger LOG = LoggerFactory.getLogger(RdmaServerRpc.class);
    private static final int FIRST_FREE_PORT = 49_152;
    private static final int FREE_PORTS = 16_000;
    private static final int PORT_ATTEMPTS = 16;

    private final RaftServer server;
    private final RpcType type;
    private final TimeDuration requestTimeout;
    private final ServerNode node;
    private volatile InetSocketAddress address;

    RdmaServerRpc(final RaftServer server, final RpcType type) {
        this(server, type, new ServerNode(server));
    }

    private RdmaServerRpc(final RaftServer server, final RpcType type, final ServerNode node) {
        super(server::getId,
            id -> new RdmaProxyMap(id.toString(), Reconnection.ofServers(server.getProperties()), peer -> node.open()));
        this.server = server;
        this.type = type;
        this.node = node;
        Prerequisites.requireOfServer();
        RdmaConfig.checkServer(server.getProperties());
        requestTimeout = RaftServerConfigKeys.Rpc.requestTimeout(server.getProperties());
        final int port = RdmaConfigKeys.serverPort(server.getProperties());
        final String host = RdmaConfigKeys.serverHost(server.getProperties());
        if (port != 0) {
            address = host == null ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
        }
    }

    @Override
    public RpcType getRpcType() {
        return type;
    }

    @Override
    protected void startImpl() throws IOException {
        try {
            final Node opened = node.open();
            address = new InetSocketAddress(node.host(), listen(opened, node.host()));
        } catch (final IOException | RuntimeException | Error failure) {
            endAfter(failure);
            throw failure;
        }
        LOG.info("{}: listens on {} for RDMA connections", getId(), address);
    }

    /**
     * Ends what has begun before a start that fails. The engine starts the groups of a server before its transport. After an
     * {@link IOException} it regards the server as new, and its close ends nothing: the threads of the groups would continue, and
     * their storage would stay locked. A server without groups can be started again.
     */
    private void endAfter(final Throwable failure) {
        final Iterable<RaftGroupId> groups = server.getGroupIds();
        if (!groups.iterator().hasNext()) {
            endOr(failure, node::reset);
            return;
        }
        // Before the groups: their elections would open it again.
        endOr(failure, this::closeImpl);
        for (final RaftGroupId group : groups) {
            endOr(failure, () -> server.getDivision(group).close());
        }
    }

    /** Ends one part; its exceptions and errors neither prevent the ends of the others nor replace the failure. */
    private static void endOr(final Throwable failure, final CheckedRunnable<IOException> end) {
        try {
            end.run();
        } catch (final IOException | RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }

    private int listen(final Node opened, final String host) throws IOException {
        final int port = node.port();
        if (port != 0) {
            try {
                opened.listen(host, port);
            } catch (final BindException e) {
                throw new IOException(getId() + " " + e.getMessage() + "; end the process that uses it, or set another port in " +
                    "the address of the server in its group (RaftPeer.address), or with " + RdmaConfigKeys.SERVER_PORT_KEY, e);
            }
            return port;
        }
        for (int attempt = 1; ; attempt++) {
            final int free = FIRST_FREE_PORT + ThreadLocalRandom.current().nextInt(FREE_PORTS);
            try {
                opened.listen(host, free);
                return free;
            } catch (final IOException e) {
                if (attempt == PORT_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void closeImpl() throws IOException {
        try {
            super.closeImpl();
        } finally {
            node.close();
        }
    }

    @Override
    public InetSocketAddress getInetSocketAddress() {
        final InetSocketAddress listening = address;
        if (listening == null) {
            throw new IllegalStateException(getId() + " has no port yet: it is not started, and " +
                RdmaConfigKeys.SERVER_PORT_KEY + " is not set");
        }
        return listening;
    }

    TransportCounters counters() {
        return node.counters();
    }

    @Override
    public RequestVoteReplyProto requestVote(final RequestVoteRequestProto request) throws IOException {
        return (RequestVoteReplyProto) send(MessageType.REQUEST_VOTE, request.getServerRequest(), request);
    }

    @Override
    public AppendEntriesReplyProto appendEntries(final AppendEntriesRequestProto request) throws IOException {
        return (AppendEntriesReplyProto) send(MessageType.APPEND_ENTRIES, request.getServerRequest(), request);
    }

    @Override
    public InstallSnapshotReplyProto installSnapshot(final InstallSnapshotRequestProto request) throws IOException {
        return (InstallSnapshotReplyProto) send(MessageType.INSTALL_SNAPSHOT, request.getServerRequest(), request);
    }

    @Override
    public StartLeaderElectionReplyProto startLeaderElection(final StartLeaderElectionRequestProto request)
        throws IOException {
        return (StartLeaderElectionReplyProto) send(MessageType.START_LEADER_ELECTION, request.getServerRequest(), request);
    }

    @Override
    public RaftServerAsynchronousProtocol async() {
        return this;
    }

    @Override
    public CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(final AppendEntriesRequestProto request)
        throws IOException {
        return sendAsync(MessageType.APPEND_ENTRIES, request.getServerRequest(), request)
            .thenApply(AppendEntriesReplyProto.class::cast);
    }

    @Override
    public CompletableFuture<ReadIndexReplyProto> readIndexAsync(final ReadIndexRequestProto request) throws IOException {
        return sendAsync(MessageType.READ_INDEX, request.getServerRequest(), request)
            .thenApplyAsync(ReadIndexReplyProto.class::cast, node.executor());
    }

    /** Whether a request to a peer would be sent directly; otherwise a connection is opened first, which blocks. */
    boolean isConnected(final RaftPeerId peer) {
        return getProxies().isConnected(peer);
    }

    /** Runs a task that may block on a request thread; the task is dropped if the server is closing. */
    void executeOnRequestThread(final Runnable task) {
        try {
            node.executor().execute(task);
        } catch (final RejectedExecutionException e) {
            // No thread waits for the task any more.
            return;
        }
    }

    private MessageLite send(final MessageType messageType, final RaftRpcRequestProto header, final MessageLite request)
        throws IOException {
        CodeInjectionForTesting.execute(SEND_SERVER_REQUEST, getId(), null, request);
        final RaftPeerId peer = RaftPeerId.valueOf(header.getReplyId());
        try {
            return getProxies().openProxy(peer).send(messageType, request,
                requestTimeout.add(header.getTimeoutMs(), TimeUnit.MILLISECONDS));
        } catch (final IOException e) {
            getProxies().handleException(peer, e, false);
            throw e;
        }
    }

    private CompletableFuture<MessageLite> sendAsync(final MessageType messageType, final RaftRpcRequestProto header,
        final MessageLite request) throws IOException {
        CodeInjectionForTesting.execute(SEND_SERVER_REQUEST, getId(), null, request);
        final RaftPeerId peer = RaftPeerId.valueOf(header.getReplyId());
        try {
            return getProxies().getProxy(peer).sendAsync(messageType, request, requestTimeout)
                .whenComplete((reply, failure) -> {
                    if (failure != null) {
                        executeOnRequestThread(() -> getProxies().handleException(peer, failure, false));
                    }
                });
        } catch (final IOException e) {
            getProxies().handleException(peer, e, false);
            throw e;
        }
    }

    @Override
    public String toString() {
        return getId() + " on " + address;
    }
}
