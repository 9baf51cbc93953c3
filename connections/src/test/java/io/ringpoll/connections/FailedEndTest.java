package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.testing.CallFault;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls into the loopback device fail: the connection ends, and releases place and memory. */
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

    /** Nothing would return the credit later: the peer would wait for ever. */
    @Test
    void shouldEndAConnectionThatCannotReturnCredits() throws Exception {
        try (FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("full@1#2"));
            SetPair pair = SetPair.of(builder -> builder.messagesInFlight(1), server, client)) {
            final MessageConnection connection = pair.connect();
            final UnsafeBuffer message = new UnsafeBuffer("only".getBytes(StandardCharsets.UTF_8));
            assertTrue(connection.execute(() -> connection.trySend(message, 0, message.capacity())));
            server.await("message only");
            assertEquals("disconnected FAILED", server.await("disconnected"));
            client.await("disconnected");
        }
    }
}
