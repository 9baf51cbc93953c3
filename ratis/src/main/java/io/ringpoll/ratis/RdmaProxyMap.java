package io.ringpoll.ratis;

import io.ringpoll.internal.transport.Node;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.NetUtils;
import org.apache.ratis.util.PeerProxyMap;

/** The peers of a server or client. A connection is opened when the first request is sent to its peer. */
final class RdmaProxyMap extends PeerProxyMap<RdmaProxy> {
    /** Supplies the node; a client's node is opened for the first peer. */
    @FunctionalInterface
    interface NodeSource {
        Node nodeFor(InetSocketAddress address) throws IOException;
    }

    /** The latest connection to each peer. */
    private final Map<RaftPeerId, RdmaProxy> latest;

    RdmaProxyMap(final String name, final RaftProperties properties, final NodeSource nodes) {
        this(name, new Reconnection(properties), nodes);
    }

    RdmaProxyMap(final String name, final Reconnection reconnection, final NodeSource nodes) {
        this(name, new Connector(nodes, reconnection, new ConcurrentHashMap<>()));
    }

    private RdmaProxyMap(final String name, final Connector connector) {
        super(name, connector::connect);
        latest = connector.latest;
    }

    private record Connector(NodeSource nodes, Reconnection reconnection, Map<RaftPeerId, RdmaProxy> latest) {
        RdmaProxy connect(final RaftPeer peer) throws IOException {
            reconnection.check(peer.getId(), System.nanoTime());
            final InetSocketAddress address = NetUtils.createSocketAddr(peer.getAddress());
            if (address.isUnresolved()) {
                throw new UnknownHostException(peer.getAddress());
            }
            try {
                final RdmaProxy proxy = new RdmaProxy(nodes.nodeFor(address)
                    .connect(address.getAddress().getHostAddress(), address.getPort(), peer.getId().toString()));
                reconnection.onSuccess(peer.getId());
                latest.put(peer.getId(), proxy);
                return proxy;
            } catch (final InterruptedIOException e) {
                // Of this side, for instance at the end of an election: not a failure of the peer.
                throw e;
            } catch (final IOException e) {
                reconnection.onFailure(peer.getId(), System.nanoTime(), e);
                throw e;
            } catch (final RuntimeException | Error e) {
                // After any other exception the engine's map would never connect to the peer again; a thread that cannot be
                // started is an OutOfMemoryError.
                final IOException failure = new IOException("cannot connect to " + peer + ": " + e, e);
                reconnection.onFailure(peer.getId(), System.nanoTime(), failure);
                throw failure;
            }
        }
    }

    @Override
    public RdmaProxy getProxy(final RaftPeerId peer) throws IOException {
        return present(super.getProxy(peer), peer);
    }

    /**
     * The connection to a peer for a request that is not sent again, such as a vote; may wait for a connect. The engine's map
     * keeps a connection that has ended until a request on it has failed, and an election would take one round more.
     */
    RdmaProxy openProxy(final RaftPeerId peer) throws IOException {
        final RdmaProxy last = getProxy(peer);
        if (last.isOpen()) {
            return last;
        }
        handleException(peer, new AlreadyClosedException("the connection to " + peer + " has ended"), false);
        return getProxy(peer);
    }

    /**
     * Lets the engine retry: its map returns null if another thread discards the connection at this moment (until version 3.2.0).
     * A client would report a {@link NullPointerException} to the caller instead, and not send the request again.
     */
    static RdmaProxy present(final RdmaProxy proxy, final RaftPeerId peer) throws ConnectException {
        if (proxy == null) {
            throw new ConnectException("the connection to " + peer + " has just ended");
        }
        return proxy;
    }

    /** The latest connection to a peer, which may have ended; null before the first. */
    RdmaProxy latest(final RaftPeerId peer) {
        return latest.get(peer);
    }

    /** Whether there is an open connection to a peer. */
    boolean isConnected(final RaftPeerId peer) {
        final RdmaProxy proxy = latest(peer);
        return proxy != null && proxy.isOpen();
    }

    /**
     * Replaces a failed connection unless it has already been replaced: several threads that observe one failure must not close
     * each other's new connections.
     */
    @Override
    public boolean handleException(final RaftPeerId peer, final Throwable failure, final boolean reconnect) {
        if (!reconnect && IOUtils.shouldReconnect(failure) && isConnected(peer)) {
            return true;
        }
        return super.handleException(peer, failure, reconnect);
    }
}
