package io.ringpoll.internal.connections;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;

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
        final ConnectionEvent event = await(connection, timeoutMs);
        if (event != ConnectionEvent.ESTABLISHED) {
            throw new IllegalStateException(connection.name() + " was not established: " + event);
        }
    }

    /**
     * Waits for the first event: the connection is established, or the peer has gone before.
     *
     * @param connection without an event so far
     * @param timeoutMs  maximum time in milliseconds
     * @return the event
     * @throws IllegalStateException if there is none in time
     */
    public static ConnectionEvent await(final Connection connection, final int timeoutMs) {
        return connection.nextEvent(timeoutMs).orElseThrow(() ->
            new IllegalStateException(connection.name() + " was not established within " + timeoutMs + " ms"));
    }
}
