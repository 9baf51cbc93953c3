package io.ringpoll.verify.fuzz;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import java.util.Optional;

/**
 * A connection within this process, with memory of both sides, which a wrong input may break: for targets that post.
 *
 * <p>One thread.
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

    /** What the other side may read and write. */
    LocalMemoryRegion far() {
        return far;
    }

    /** A connection that stands; another one once {@link #hangUp()} was called. */
    Connection client() {
        if (client == null) {
            client = peer.request(ADDRESS, PORT).connect();
            server = endpoint.nextRequest(TIMEOUT_MS).orElseThrow().connect();
            awaitEstablished(client);
            awaitEstablished(server);
        }
        return client;
    }

    /** A request that brings this private data, as the other side gets it. */
    @SuppressWarnings("try") // the connection is there to be closed
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

    private static void awaitEstablished(final Connection connection) {
        final Optional<ConnectionEvent> event = connection.nextEvent(TIMEOUT_MS);
        if (!event.equals(Optional.of(ConnectionEvent.ESTABLISHED))) {
            throw new IllegalStateException(connection.name() + " was not established: " + event);
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
