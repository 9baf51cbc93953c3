package io.ringpoll.ratis;

import io.ringpoll.ratis.transport.Link;
import io.ringpoll.ratis.transport.Node;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.util.NetUtils;
import org.apache.ratis.util.PeerProxyMap;

/** The peers of a server or a client; each is connected to when something is first sent to it. */
final class RdmaProxyMap extends PeerProxyMap<RdmaProxy> {
    /** Where the node comes from: a client's is opened for the first peer it speaks to. */
    @FunctionalInterface
    interface NodeSource {
        Node nodeFor(InetSocketAddress address) throws IOException;
    }

    RdmaProxyMap(final String name, final RaftProperties properties, final NodeSource nodes) {
        this(name, nodes, new Reconnection(properties));
    }

    private RdmaProxyMap(final String name, final NodeSource nodes, final Reconnection reconnection) {
        super(name, peer -> connect(peer, nodes, reconnection));
    }

    private static RdmaProxy connect(final RaftPeer peer, final NodeSource nodes, final Reconnection reconnection)
        throws IOException {
        reconnection.check(peer.getId(), System.nanoTime());
        final InetSocketAddress address = NetUtils.createSocketAddr(peer.getAddress());
        if (address.isUnresolved()) {
            throw new UnknownHostException(peer.getAddress());
        }
        try {
            final Link link =
                nodes.nodeFor(address).connect(address.getAddress().getHostAddress(), address.getPort(), peer.getId().toString());
            reconnection.onSuccess(peer.getId());
            return new RdmaProxy(link);
        } catch (final IOException e) {
            reconnection.onFailure(peer.getId(), System.nanoTime());
            throw e;
        }
    }
}
