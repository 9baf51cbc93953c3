package io.ringpoll.internal.connections;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import java.util.Optional;

/** The first event of a connection, for threads that wait for it and keep the connection themselves. Stateless. */
public final class FirstEvent {
    private FirstEvent() {
    }

    /**
     * Waits until a connection is established.
     *
     * @param connection without an event so far
     * @param timeoutMs  maximum time in milliseconds
     * @throws IllegalStateException if it is not established in time, or there is another event
     */
    public static void awaitEstablished(final Connection connection, final int timeoutMs) {
        final Optional<ConnectionEvent> event = connection.nextEvent(timeoutMs);
        if (event.isEmpty()) {
            throw new IllegalStateException(connection.name() + " was not established within " + timeoutMs + " ms");
        }
        if (event.get() != ConnectionEvent.ESTABLISHED) {
            throw new IllegalStateException(connection.name() + " was not established: " + event.get());
        }
    }
}
