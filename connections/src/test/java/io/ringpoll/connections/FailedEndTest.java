package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.CallFault;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections whose end fails half-way release place and memory; calls into the loopback device fail. */
@Timeout(60)
class FailedEndTest {
    private static final int NO_MEMORY = 12;

    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    @AfterEach
    void clear() {
        CallFault.plan(0, 0);
    }

    @Test
    void shouldReleaseAConnectionWhoseEndFails() throws Exception {
        try (SetPair pair = SetPair.of(builder -> builder.maxConnections(1), server, client)) {
            for (int n = 1; n <= 12; n++) {
                final MessageConnection connection = pair.connect();
                server.await("connected");
                CallFault.plan(n, NO_MEMORY);
                connection.close();
                server.await("disconnected");
                client.await("disconnected");
                CallFault.plan(0, 0);
                assertEquals(0, pair.client().connections());
            }
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
        }
    }
}
