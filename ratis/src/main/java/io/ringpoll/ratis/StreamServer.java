package io.ringpoll.ratis;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.TimeDuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources that all streams of one server use: threads, settings, and connections to successors. These connections are
 * separate from the connections of the log, so that streams do not delay it. Thread-safe.
 */
final class StreamServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StreamServer.class);

    private final RaftServer server;
    private final ExecutorService executor;
    private final RdmaProxyMap successors;
    private final Map<RaftPeerId, ByteWindow> windows = new ConcurrentHashMap<>();
    private final long windowBytes;
    private final int maxStreams;
    private final TimeDuration idleTimeout;
    private final AtomicLong failures = new AtomicLong();

    /**
     * Reads the settings.
     *
     * @param server   owns the state machines
     * @param executor runs tasks that may block, such as calls of state machines
     * @param nodes    supplies the node of the server
     */
    StreamServer(final RaftServer server, final ExecutorService executor, final RdmaProxyMap.NodeSource nodes) {
        final RaftProperties properties = server.getProperties();
        this.server = server;
        this.executor = executor;
        successors = new RdmaProxyMap(server.getId() + "-streams", properties, nodes);
        windowBytes = RdmaStreamConfigKeys.window(properties).getSize();
        maxStreams = RdmaConfigKeys.linkRequestsMax(properties);
        idleTimeout = RdmaStreamConfigKeys.idleTimeout(properties);
    }

    RaftServer server() {
        return server;
    }

    ExecutorService executor() {
        return executor;
    }

    /** Maximum number of open streams of a connection. */
    int maxStreams() {
        return maxStreams;
    }

    TimeDuration idleTimeout() {
        return idleTimeout;
    }

    /** Logs the failure of a stream, which a client can repeat at will: the 1st, 2nd, 4th one and so on. */
    void onFailure(final Object stream, final Throwable reason) {
        final long times = failures.incrementAndGet();
        if (Long.bitCount(times) == 1) {
            LOG.warn("{}: the stream {} ends: {} ({} failed)", server.getId(), stream, reason.toString(), times);
        }
    }

    /** The connection to a successor; opens one if none is open, which blocks. */
    StreamLink connect(final RaftPeer peer) throws IOException {
        try {
            final RdmaProxy proxy = successors.computeIfAbsent(peer).get();
            final ByteWindow window = windows.computeIfAbsent(peer.getId(), id -> new ByteWindow(windowBytes));
            if (proxy.isOpen()) {
                return new StreamLink(proxy, window, server.getProperties());
            }
            successors.resetProxy(peer.getId());
            return new StreamLink(successors.computeIfAbsent(peer).get(), window, server.getProperties());
        } catch (final IOException e) {
            successors.handleException(peer.getId(), e, true);
            throw new IOException(server.getId() + " cannot forward a stream to " + peer.getId() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        successors.close();
    }
}
