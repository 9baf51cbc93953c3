package io.ringpoll.ratis;

import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.NodeConfig;
import io.ringpoll.internal.transport.PeerRole;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.rpma.Peer;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.agrona.CloseHelper;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.server.RaftServer;

/**
 * A server's node and its request threads, which may block. It is opened when the server starts, or by the server's first request
 * to a peer, because the engine holds elections before the start. Thread-safe.
 */
final class ServerNode {
    private static final long EXECUTOR_STOP_MS = 1_000;

    private final RaftServer server;
    private final TransportCounters counters = new TransportCounters();
    private volatile ExecutorService executor;
    private RdmaServerMetrics metrics;
    private Node node;
    private String host;
    private boolean closed;

    ServerNode(final RaftServer server) {
        this.server = server;
    }

    synchronized Node open() throws IOException {
        if (closed) {
            throw new AlreadyClosedException(server.getId() + " is closed");
        }
        if (node == null) {
            final RaftProperties properties = server.getProperties();
            final String name = server.getId() + "-rdma";
            final NodeConfig config = RdmaConfig.nodeConfig(properties, name, RdmaConfig.countersFile(properties))
                .with(RdmaConfig.access(properties, PeerRole.SERVER, server.getId().toString()));
            final LocalDevice device = LocalDevice.open(RdmaConfig.serverHost(properties));
            host = device.address();
            executor = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name(name + "-worker-", 0).factory());
            node = open(config, device.peer(), new RequestDispatcher(server, executor, RdmaConfig.direct(properties)));
            metrics = new RdmaServerMetrics(server.getId().toString(), counters);
        }
        return node;
    }

    private Node open(final NodeConfig config, final Peer peer, final RequestDispatcher requests) throws IOException {
        try {
            return new Node(config, peer, requests, counters);
        } catch (final RuntimeException e) {
            CloseHelper.quietClose(peer);
            throw new IOException(config.name() + " does not open: " + e.getMessage(), e);
        }
    }

    /** The address of the device; defined after the node has been opened. */
    synchronized String host() {
        return host;
    }

    ExecutorService executor() {
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
        final Node ended;
        final ExecutorService endedExecutor;
        final RdmaServerMetrics endedMetrics;
        synchronized (this) {
            ended = node;
            endedExecutor = executor;
            endedMetrics = metrics;
            node = null;
        }
        if (ended == null) {
            return;
        }
        ended.close();
        endedExecutor.shutdownNow();
        try {
            endedExecutor.awaitTermination(EXECUTOR_STOP_MS, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        endedMetrics.unregister();
    }
}
