package io.ringpoll.verify.torture;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Connects the endpoints of a scene, in an order that fault plans rely on: the n-th endpoint has the n-th queue pair.
 *
 * <p>Stateless.
 */
final class Wiring {
    private static final int TIMEOUT_MS = 20_000;

    private Wiring() {
    }

    static void connect(
        final Scene scene, final String address, final RcPeer client, final RcPeer server, final List<EndpointState> endpoints) {
        final Topology topology = scene.topology();
        final RcConfig config = config(topology);
        try (RcListener listener = server.listen(address, 0)) {
            for (int i = 0; i < topology.connections(); i++) {
                final Work forth = Work.draw(scene.random(2L * i), topology);
                final Work back = Work.draw(scene.random(2L * i + 1), topology);
                final EndpointState active = new EndpointState(2 * i, scene.seed(), forth, back.messages(), topology, client);
                endpoints.add(active);
                final EndpointState passive = new EndpointState(2 * i + 1, scene.seed(), back, forth.messages(), topology,
                    server);
                endpoints.add(passive);
                connect(client.request(address, listener.port(), config), listener, config, active, passive);
            }
        }
    }

    private static RcConfig config(final Topology topology) {
        final int depth = topology.queueDepth();
        return RcConfig.of(depth, depth, topology.receiveQueues() ? depth + 1 : 2 * depth + 1)
            .withReceiveQueue(topology.receiveQueues() ? depth : 0).withSharedChannel(topology.sharedChannels());
    }

    private static void connect(
        final RcRequest leaving, final RcListener endpoint, final RcConfig config, final EndpointState active,
        final EndpointState passive) {
        final RcConnection requesting = leaving.connect();
        active.connected(requesting, passive.descriptor());
        final RcRequest request = endpoint.nextRequest(config, TIMEOUT_MS)
            .orElseThrow(() -> new IllegalStateException("no connection request"));
        passive.connected(request.connect(), active.descriptor());
        active.connection().awaitEstablished(TIMEOUT_MS);
        passive.connection().awaitEstablished(TIMEOUT_MS);
    }

    static List<CompletionQueue> queues(final EndpointState endpoint) {
        if (endpoint.connection() == null) {
            return List.of();
        }
        return Stream.concat(
            Stream.of(endpoint.connection().completionQueue()), endpoint.connection().receiveCompletionQueue().stream()).toList();
    }

    /** A completion queue has failed, possibly one of this endpoint; any thread. */
    static void onDeath(final EndpointState endpoint, final AsyncEvent event) {
        if (endpoint.connection() == null) {
            return;
        }
        final Optional<CompletionQueue> receiveQueue = endpoint.connection().receiveCompletionQueue();
        if (endpoint.connection().completionQueue().isSubjectOf(event)) {
            endpoint.loseSends();
            if (receiveQueue.isEmpty()) {
                endpoint.loseReceives();
            }
        }
        if (receiveQueue.isPresent() && receiveQueue.get().isSubjectOf(event)) {
            endpoint.loseReceives();
        }
    }
}
