package io.ringpoll.bench.link;

import io.ringpoll.internal.connections.FirstEvent;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A librpma connection with both ends in this process, like the link of the C baseline: registered memory for a message, and one
 * posted receive, at each end.
 * Not a message connection: a measured post and its completion contain nothing of module {@code connections}.
 */
public final class LinkedPair implements Link {
    private static final int CQ_SIZE = 4 * LinkEnd.DEPTH;

    private final Deque<NativeResource> opened = new ArrayDeque<>();
    private final LinkEnd client;
    private final LinkEnd server;

    /**
     * Listens and connects.
     *
     * @param address an address of this machine
     * @param port    port of the temporary listener
     */
    public LinkedPair(final String address, final String port) {
        boolean connected = false;
        try {
            final Peer peer = opened(Peer.ofLocal(address));
            final LocalMemoryRegion clientMemory = opened(peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages()));
            final LocalMemoryRegion serverMemory = opened(peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages()));
            final RemoteMemoryRegion clientFromServer = opened(RemoteMemoryRegion.ofDescriptor(clientMemory.descriptor()));
            final RemoteMemoryRegion serverFromClient = opened(RemoteMemoryRegion.ofDescriptor(serverMemory.descriptor()));
            try (Endpoint endpoint = peer.listen(address, port);
                ConnectionConfig config =
                    ConnectionConfig.create().sqSize(LinkEnd.DEPTH).rqSize(LinkEnd.DEPTH).cqSize(CQ_SIZE)) {
                final ConnectionRequest outgoing = peer.request(address, port, config);
                outgoing.receive(clientMemory, 0, LinkEnd.MEMORY_BYTES, 0);
                final Connection connecting = opened(outgoing.connect());
                final ConnectionRequest incoming = endpoint.nextRequest(config, LinkEnd.TIMEOUT_MS)
                    .orElseThrow(() -> new IllegalStateException("no connection request within " + LinkEnd.TIMEOUT_MS + " ms"));
                incoming.receive(serverMemory, 0, LinkEnd.MEMORY_BYTES, 0);
                final Connection accepted = opened(incoming.connect());
                FirstEvent.awaitEstablished(connecting, LinkEnd.TIMEOUT_MS);
                FirstEvent.awaitEstablished(accepted, LinkEnd.TIMEOUT_MS);
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

    private <T extends NativeResource> T opened(final T resource) {
        opened.push(resource);
        return resource;
    }
}
