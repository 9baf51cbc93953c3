package io.ringpoll.bench.latency;

import io.ringpoll.internal.connections.FirstEvent;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A librpma connection with both ends in this process, like the link of the C baseline: registered memory for a message, and one
 * posted receive, at each end.
 * Not a message connection: a measured post and its completion contain nothing of module {@code connections}.
 */
public final class LinkedPair implements AutoCloseable {
    /** Maximum number of work requests in flight; as in baseline.h. */
    static final int DEPTH = 64;
    /** Memory at each end; as in baseline.h. */
    public static final int MEMORY_BYTES = 1 << 23;

    private static final int CQ_SIZE = 4 * DEPTH;
    private static final int TIMEOUT_MS = 5_000;
    private static final MemoryUsage[] USAGES = {MemoryUsage.SEND, MemoryUsage.RECEIVE, MemoryUsage.WRITE_SOURCE,
        MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE, MemoryUsage.READ_DESTINATION};

    private final Deque<NativeResource> opened = new ArrayDeque<>();
    private final Connection client;
    private final Connection server;
    private final LocalMemoryRegion clientMemory;
    private final LocalMemoryRegion serverMemory;
    private final RemoteMemoryRegion clientFromServer;
    private final RemoteMemoryRegion serverFromClient;

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
            clientMemory = opened(peer.allocate(MEMORY_BYTES, USAGES));
            serverMemory = opened(peer.allocate(MEMORY_BYTES, USAGES));
            clientFromServer = opened(RemoteMemoryRegion.ofDescriptor(clientMemory.descriptor()));
            serverFromClient = opened(RemoteMemoryRegion.ofDescriptor(serverMemory.descriptor()));
            try (Endpoint endpoint = peer.listen(address, port);
                ConnectionConfig config = ConnectionConfig.create().sqSize(DEPTH).rqSize(DEPTH).cqSize(CQ_SIZE)) {
                final ConnectionRequest outgoing = peer.request(address, port, config);
                outgoing.receive(clientMemory, 0, MEMORY_BYTES, 0);
                client = opened(outgoing.connect());
                final ConnectionRequest incoming = endpoint.nextRequest(config, TIMEOUT_MS)
                    .orElseThrow(() -> new IllegalStateException("no connection request within " + TIMEOUT_MS + " ms"));
                incoming.receive(serverMemory, 0, MEMORY_BYTES, 0);
                server = opened(incoming.connect());
                FirstEvent.awaitEstablished(client, TIMEOUT_MS);
                FirstEvent.awaitEstablished(server, TIMEOUT_MS);
            }
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    /**
     * The connecting end.
     *
     * @return its connection
     */
    public Connection client() {
        return client;
    }

    /**
     * The listening end.
     *
     * @return its connection
     */
    public Connection server() {
        return server;
    }

    /**
     * The memory of the client.
     *
     * @return its registration
     */
    public LocalMemoryRegion clientMemory() {
        return clientMemory;
    }

    /**
     * The memory of the server.
     *
     * @return its registration
     */
    public LocalMemoryRegion serverMemory() {
        return serverMemory;
    }

    /**
     * The memory of the client as a remote region of the server.
     *
     * @return its description
     */
    public RemoteMemoryRegion clientFromServer() {
        return clientFromServer;
    }

    /**
     * The memory of the server as a remote region of the client.
     *
     * @return its description
     */
    public RemoteMemoryRegion serverFromClient() {
        return serverFromClient;
    }

    /** Posts one more receive at the server, into any part of its memory; false if there is no room. */
    boolean receiveAtServer() {
        return server.receive(serverMemory, 0, MEMORY_BYTES, 0);
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
