package io.ringpoll.bench.link;

import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcResource;
import io.ringpoll.internal.rc.RdmaApi;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A connection of either binding with both ends in this process, like the link of the C baseline: registered memory for a
 * message, and one posted receive, at each end.
 * Not a message connection: a measured post and its completion contain nothing of module {@code connections}.
 */
public final class LinkedPair implements Link {
    private static final int CQ_SIZE = 4 * LinkEnd.DEPTH;

    private final Deque<RcResource> opened = new ArrayDeque<>();
    private final LinkEnd client;
    private final LinkEnd server;

    /**
     * Listens and connects.
     *
     * @param api     the binding that makes the connections
     * @param address an address of this machine
     * @param port    port of the temporary listener
     */
    public LinkedPair(final RdmaApi api, final String address, final int port) {
        this(api, address, port, false);
    }

    /**
     * Listens and connects.
     *
     * @param api        the binding that makes the connections
     * @param address    an address of this machine
     * @param port       port of the temporary listener
     * @param timestamps whether the completions have timestamps
     */
    public LinkedPair(final RdmaApi api, final String address, final int port, final boolean timestamps) {
        boolean connected = false;
        try {
            final RcPeer peer = opened(api.ofLocal(address));
            final RcMemory clientMemory = opened(peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages()));
            final RcMemory serverMemory = opened(peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages()));
            final RcRemoteMemory clientFromServer = opened(peer.remote(clientMemory.descriptor()));
            final RcRemoteMemory serverFromClient = opened(peer.remote(serverMemory.descriptor()));
            final RcConfig config = RcConfig.of(LinkEnd.DEPTH, LinkEnd.DEPTH, CQ_SIZE).withTimestamps(timestamps);
            try (RcListener listener = peer.listen(address, port)) {
                final RcConnection connecting = connected(peer.request(address, port, config), clientMemory);
                final RcConnection accepted = connected(listener.nextRequest(config, LinkEnd.TIMEOUT_MS).orElseThrow(
                    () -> new IllegalStateException("no connection request within " + LinkEnd.TIMEOUT_MS + " ms")), serverMemory);
                connecting.awaitEstablished(LinkEnd.TIMEOUT_MS);
                accepted.awaitEstablished(LinkEnd.TIMEOUT_MS);
                client = new LinkEnd(connecting, clientMemory, serverFromClient);
                server = new LinkEnd(accepted, serverMemory, clientFromServer);
            }
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    /** Posts the receive and connects; a request that fails is closed before its memory. */
    private RcConnection connected(final RcRequest request, final RcMemory memory) {
        try (request) {
            request.receive(memory, 0, LinkEnd.MEMORY_BYTES, 0);
            return opened(request.connect());
        }
    }

    @Override
    public LinkEnd client() {
        return client;
    }

    /**
     * The listening end.
     *
     * @return in this process
     */
    public LinkEnd server() {
        return server;
    }

    @Override
    public List<LinkEnd> ends() {
        return List.of(client, server);
    }

    @Override
    public void check(final boolean failed) {
        // Both ends are in this process; a failed operation is a fault of its turn.
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    private <T extends RcResource> T opened(final T resource) {
        opened.push(resource);
        return resource;
    }
}
