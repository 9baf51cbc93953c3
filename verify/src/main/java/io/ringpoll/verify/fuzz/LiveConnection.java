package io.ringpoll.verify.fuzz;

import io.ringpoll.internal.connections.FirstEvent;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;

/**
 * A connection within this process, with memory on both sides, for targets that post: an invalid input may break it.
 *
 * <p>Used by one thread.
 */
final class LiveConnection implements AutoCloseable {
    static final int MEMORY_BYTES = 4096;
    static final String ADDRESS = "127.0.0.1";
    private static final String PORT = "7501";
    private static final int TIMEOUT_MS = 20_000;

    private final Peer peer = Peer.ofLocal(ADDRESS);
    private final LocalMemoryRegion near = peer.allocate(MEMORY_BYTES, MemoryUsage.values());
    private final LocalMemoryRegion far = peer.allocate(MEMORY_BYTES, MemoryUsage.values());
    private final Endpoint endpoint = peer.listen(ADDRESS, PORT);
    private Connection client;
    private Connection server;

    Peer peer() {
        return peer;
    }

    LocalMemoryRegion near() {
        return near;
    }

    /** The memory that the peer may read and write. */
    LocalMemoryRegion far() {
        return far;
    }

    /** An established connection; a new one after {@link #hangUp()}. */
    Connection client() {
        if (client == null) {
            client = peer.request(ADDRESS, PORT).connect();
            server = endpoint.nextRequest(TIMEOUT_MS).orElseThrow().connect();
            FirstEvent.awaitEstablished(client, TIMEOUT_MS);
            FirstEvent.awaitEstablished(server, TIMEOUT_MS);
        }
        return client;
    }

    /** A connection request with this private data, as the server receives it. */
    @SuppressWarnings("try") // closes the connection
    byte[] request(final byte[] privateData) {
        try (ConnectionRequest leaving = peer.request(ADDRESS, PORT);
            Connection requesting = leaving.connect(privateData);
            ConnectionRequest request = endpoint.nextRequest(TIMEOUT_MS).orElseThrow()) {
            return request.privateData();
        }
    }

    void hangUp() {
        if (client != null) {
            client.close();
            server.close();
            client = null;
            server = null;
        }
    }

    @Override
    public void close() {
        hangUp();
        endpoint.close();
        far.close();
        near.close();
        peer.close();
    }
}
