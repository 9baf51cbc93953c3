package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.internal.connections.FirstEvent;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;
import java.util.SplittableRandom;

/** Two connected endpoints; any thread. */
final class Link implements AutoCloseable {
    private static final int TIMEOUT_MS = 20_000;

    private final EndpointState client;
    private final EndpointState server;
    private volatile boolean broken;

    /** Connects two endpoints with consecutive numbers. */
    Link(
        final int number, final String address, final Peer peer, final Shape shape, final SplittableRandom random,
        final Violations violations) {
        final boolean receiveQueue = random.nextBoolean();
        final boolean sharedChannel = random.nextBoolean();
        final int depth = shape.depth();
        client = new EndpointState(number, this, peer, depth, violations);
        server = new EndpointState(number + 1, this, peer, depth, violations);
        try (ConnectionConfig config = ConnectionConfig.create(); Endpoint listener = peer.listen(address, "0")) {
            config.sqSize(depth).rqSize(depth).cqSize(receiveQueue ? depth + 1 : 2 * depth + 1)
                .sharedCompletionChannel(sharedChannel);
            if (receiveQueue) {
                config.rcqSize(depth + 1);
            }
            final String port = Integer.toString(listener.port());
            final Connection active = peer.request(address, port, config).connect();
            client.connected(active, server.descriptor());
            final ConnectionRequest request = listener.nextRequest(config, TIMEOUT_MS)
                .orElseThrow(() -> new IllegalStateException("no connection request arrived"));
            server.connected(request.connect(), client.descriptor());
            client.linkedTo(server);
            server.linkedTo(client);
            for (final EndpointState endpoint : endpoints()) {
                FirstEvent.awaitEstablished(endpoint.connection(), TIMEOUT_MS);
            }
        }
    }

    List<EndpointState> endpoints() {
        return List.of(client, server);
    }

    /** Whether one end has been disconnected or closed, or is about to be: posts may fail from then on. */
    boolean isBroken() {
        return broken;
    }

    void breaking() {
        broken = true;
    }

    /** Disconnects both ends, so that all posted work requests end. */
    void disconnect() {
        broken = true;
        for (final EndpointState endpoint : endpoints()) {
            try {
                endpoint.connection().disconnect();
            } catch (final IllegalStateException | RpmaException closedOrDown) {
                // The other end, or another thread, has closed it first.
            }
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
