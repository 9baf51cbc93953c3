package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Example 01: a connection is made, both sides receive the other's private data, and it is closed in order. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ConnectionScenarioTest extends Scenario {
    // InfiniBand and RoCE fill private data up with zeros: its length is for the two sides to know.
    private static final byte[] GREETING = "Hello server!".getBytes(StandardCharsets.UTF_8);
    private static final byte[] ANSWER = "Hello client!".getBytes(StandardCharsets.UTF_8);

    @Test
    void shouldConnectExchangePrivateDataAndDisconnect() {
        run(this::server, this::client);
    }

    private void server() {
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = listen(peer)) {
            final ConnectionRequest request = endpoint.nextRequest(TIMEOUT_MS).orElseThrow();
            final String greeting = new String(request.privateData(), StandardCharsets.UTF_8);
            try (Connection connection = request.connect(ANSWER)) {
                awaitEvent(connection, ConnectionEvent.ESTABLISHED);
                assertEquals("Hello server!", greeting.substring(0, GREETING.length));
                awaitDisconnect(connection);
            }
        }
    }

    private void client() {
        try (Peer peer = Peer.ofRemote(ADDRESS); Connection connection = connect(peer, null, GREETING)) {
            final String answer = new String(connection.privateData(), StandardCharsets.UTF_8);
            assertEquals("Hello client!", answer.substring(0, ANSWER.length));
            disconnect(connection);
        }
    }
}
