package io.ringpoll.internal.connections;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A request that its peer accepts, rejects, or leaves. */
@Timeout(120)
class FirstEventTest {
    private static final int TIMEOUT_MS = 50_000;

    @Test
    void shouldNotWaitForAConnectionThatHasEndedOrIsLate() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            Endpoint endpoint = peer.listen(TestDevice.address(), "0");
            ConnectionConfig config = ConnectionConfig.create();
            ConnectionRequest outgoing = peer.request(TestDevice.address(), Integer.toString(endpoint.port()));
            Connection client = outgoing.connect()) {
            assertFails(client, 1, "was not established within 1 ms");
            endpoint.nextRequest(config, TIMEOUT_MS).orElseThrow().close();
            assertFails(client, TIMEOUT_MS, "was not established: REJECTED");
        }
    }

    @Test
    void shouldReturnWhenAConnectionIsEstablished() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            Endpoint endpoint = peer.listen(TestDevice.address(), "0");
            ConnectionConfig config = ConnectionConfig.create();
            ConnectionRequest outgoing = peer.request(TestDevice.address(), Integer.toString(endpoint.port()));
            Connection client = outgoing.connect();
            ConnectionRequest incoming = endpoint.nextRequest(config, TIMEOUT_MS).orElseThrow();
            Connection server = incoming.connect()) {
            FirstEvent.awaitEstablished(client, TIMEOUT_MS);
            FirstEvent.awaitEstablished(server, TIMEOUT_MS);
        }
    }

    private static void assertFails(final Connection connection, final int timeoutMs, final String reason) {
        final String message = assertThrows(
            IllegalStateException.class, () -> FirstEvent.awaitEstablished(connection, timeoutMs)).getMessage();
        assertTrue(message.endsWith(reason), message);
    }
}
