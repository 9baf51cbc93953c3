package io.ringpoll.ratis;

import io.ringpoll.ratis.transport.Node;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.NetUtils;
import org.apache.ratis.util.PeerProxyMap;

/** The peers of a server or a client; each is connected to when something is first sent to it. */
final class RdmaProxyMap extends PeerProxyMap<RdmaProxy> {
    /** Where the node comes from: a client's is opened for the first peer it speaks to. */
    @FunctionalInterface
    interface NodeSource {
        Node nodeFor(InetSocketAddress address) throws IOException;
    }

    /** The latest connection to each peer. */
    private final Map<RaftPeerId, RdmaProxy> latest;

    RdmaProxyMap(final String name, final RaftProperties properties, final NodeSource nodes) {
        this(name, new Connector(nodes, new Reconnection(properties), new ConcurrentHashMap<>()));
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
            } catch (final IOException e) {
                reconnection.onFailure(peer.getId(), System.nanoTime());
                throw e;
            } catch (final RuntimeException e) {
                // The engine's map never again connects to a peer whose connect has thrown anything else.
                reconnection.onFailure(peer.getId(), System.nanoTime());
                throw new IOException("cannot connect to " + peer, e);
            }
        }
    }

    /** Whether there is a connection to a peer that has not failed. */
    boolean isConnected(final RaftPeerId peer) {
        final RdmaProxy proxy = latest.get(peer);
        return proxy != null && proxy.isOpen();
    }

    /**
     * Has a new connection made if the one that failed has not been replaced already: several who hear of one failure must not
     * end each other's new connections.
     */
    @Override
    public boolean handleException(final RaftPeerId peer, final Throwable failure, final boolean reconnect) {
        if (!reconnect && IOUtils.shouldReconnect(failure) && isConnected(peer)) {
            return true;
        }
        return super.handleException(peer, failure, reconnect);
    }
}
