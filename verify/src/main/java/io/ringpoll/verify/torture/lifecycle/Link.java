package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;
import java.util.SplittableRandom;

/** Two connected endpoints; any thread. */
final class Link implements AutoCloseable {
    private static final int TIMEOUT_MS = 20_000;

    private final boolean flushesLateReceives;
    private final EndpointState client;
    private final EndpointState server;
    private volatile boolean broken;

    /**
     * Connects two endpoints with consecutive numbers.
     *
     * @param flushesLateReceives whether the device completes a receive that is posted after the disconnect
     */
    Link(
        final int number, final String address, final RcPeer peer, final Shape shape, final SplittableRandom random,
        final boolean flushesLateReceives, final Violations violations) {
        this.flushesLateReceives = flushesLateReceives;
        final boolean receiveQueue = random.nextBoolean();
        final boolean sharedChannel = random.nextBoolean();
        final int depth = shape.depth();
        final Room room = new Room(depth, !receiveQueue);
        client = new EndpointState(number, this, peer, room, violations);
        server = new EndpointState(number + 1, this, peer, room, violations);
        final RcConfig config = RcConfig.of(depth, depth, Room.entries(depth, !receiveQueue))
            .withReceiveQueue(receiveQueue ? Room.entries(depth, false) : 0).withSharedChannel(sharedChannel);
        try (RcListener listener = peer.listen(address, 0)) {
            final RcConnection active = peer.request(address, listener.port(), config).connect();
            client.connected(active, server.descriptor());
            final RcRequest request = listener.nextRequest(config, TIMEOUT_MS)
                .orElseThrow(() -> new IllegalStateException("no connection request arrived"));
            server.connected(request.connect(), client.descriptor());
            client.linkedTo(server);
            server.linkedTo(client);
            for (final EndpointState endpoint : endpoints()) {
                endpoint.connection().awaitEstablished(TIMEOUT_MS);
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

    /** Whether a receive may be posted after the disconnect: Soft-RoCE accepts it, and never completes it. */
    boolean flushesLateReceives() {
        return flushesLateReceives;
    }

    /** From now on posts may fail; and no receive is posted, unless the device completes those, too. */
    void breaking() {
        broken = true;
        if (!flushesLateReceives) {
            endpoints().forEach(EndpointState::awaitReceive);
        }
    }

    /** Disconnects both ends, so that all posted work requests end. */
    void disconnect() {
        breaking();
        for (final EndpointState endpoint : endpoints()) {
            try {
                endpoint.connection().disconnect();
            } catch (final IllegalStateException | RdmaException closedOrDown) {
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
