package io.ringpoll.ratis;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.NodeConfig;
import io.ringpoll.internal.transport.PeerRole;
import io.ringpoll.internal.transport.RequestHandler;
import io.ringpoll.internal.transport.RequestThreads;
import io.ringpoll.internal.transport.ResourceStack;
import io.ringpoll.internal.transport.TransportCounters;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's node and its request threads, which may block. It is opened when the server starts, or by the server's first request
 * to a peer, because the engine holds elections before the start. Thread-safe.
 */
final class ServerNode {
    private static final Logger LOG = LoggerFactory.getLogger(ServerNode.class);
    private final RaftServer server;
    private final TransportCounters counters = new TransportCounters();
    private volatile RequestThreads executor;
    private Node node;
    /** Of the open node; null if it is not open. */
    private ResourceStack resources;
    private String host;
    private int port;
    private boolean closed;

    ServerNode(final RaftServer server) {
        this.server = server;
    }

    synchronized Node open() throws IOException {
        if (closed) {
            throw new AlreadyClosedException(server.getId() + " is closed");
        }
        if (node == null) {
            final ResourceStack taken = new ResourceStack(failure -> LOG.warn("{}: a resource could not be released",
                server.getId(), failure));
            try {
                node = open(taken);
                resources = taken;
            } catch (final IOException | RuntimeException | Error failure) {
                taken.endAfter(failure);
                throw failure;
            }
        }
        return node;
    }

    private Node open(final ResourceStack taken) throws IOException {
        final RaftProperties properties = server.getProperties();
        final String name = server.getId() + "-rdma";
        final NodeConfig config = RdmaConfig.nodeConfig(properties, name, RdmaConfigKeys.countersFile(properties))
            .with(RdmaConfig.access(properties, PeerRole.SERVER, server.getId().toString()));
        final Own own = own();
        // A node that ends meanwhile has one of its own.
        final RequestThreads threads = new RequestThreads(name + "-worker-", RdmaConfigKeys.direct(properties));
        executor = threads;
        taken.push(threads::end);
        final StreamServer streams = new StreamServer(server, threads.elsewhere(), address -> open());
        final RequestHandler requests =
            new StreamRequests(streams, new RequestDispatcher(server, threads, threads.elsewhere()));
        final LocalDevice device = LocalDevice.open(RdmaConfig.api(properties), own.host());
        host = device.address();
        port = own.port();
        final Node opened = open(config, device.peer(), requests);
        taken.push(opened);
        taken.push(streams);
        taken.push(new RdmaServerMetrics(server.getId().toString(), counters)::unregister);
        return opened;
    }

    /** Where this server listens: the host is null for any device, the port 0 for any that is free. */
    private record Own(String host, int port) {
    }

    /** The settings, and for those that are not set the address of this server in its groups. */
    private Own own() throws IOException {
        final String ownHost = RdmaConfigKeys.serverHost(server.getProperties());
        final int ownPort = RdmaConfigKeys.serverPort(server.getProperties());
        final String peerAddress = ownHost != null && ownPort != 0 ? null : addressInGroups();
        if (peerAddress == null) {
            return new Own(ownHost, ownPort);
        }
        try {
            final InetSocketAddress inGroups = NetUtils.createSocketAddr(peerAddress);
            return new Own(ownHost != null ? ownHost : inGroups.getHostString(), ownPort != 0 ? ownPort : inGroups.getPort());
        } catch (final IllegalArgumentException e) {
            throw new IOException("the address of " + server.getId() + " in its group, " + peerAddress + ", is invalid; set " +
                RdmaConfigKeys.SERVER_HOST_KEY + " and " + RdmaConfigKeys.SERVER_PORT_KEY, e);
        }
    }

    private String addressInGroups() throws IOException {
        for (final RaftGroupId group : server.getGroupIds()) {
            final RaftPeer self = server.getDivision(group).getRaftConf().getPeer(server.getId());
            if (self != null && self.getAddress() != null && !self.getAddress().isEmpty()) {
                return self.getAddress();
            }
        }
        return null;
    }

    private Node open(final NodeConfig config, final RcPeer device, final RequestHandler requests) throws IOException {
        try {
            return new Node(config, device, requests, counters);
        } catch (final RuntimeException | OutOfMemoryError e) {
            // A thread that cannot be created is the latter.
            throw new IOException(config.name() + " does not open: " + e.getMessage(), e);
        }
    }

    /** The address of the device; defined after the node has been opened. */
    synchronized String host() {
        return host;
    }

    /** The port to listen on, 0 for any; defined after the node has been opened. */
    synchronized int port() {
        return port;
    }

    RequestThreads executor() {
        return executor;
    }

    TransportCounters counters() {
        return counters;
    }

    /** Closes the node for good. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        reset();
    }

    /** Closes the node if it is open; it can be opened again unless {@link #close()} was called. */
    void reset() {
        final ResourceStack ended;
        synchronized (this) {
            ended = resources;
            resources = null;
            node = null;
        }
        if (ended != null) {
            // Without the lock: the threads that end may call this object.
            ended.end();
        }
    }
}
