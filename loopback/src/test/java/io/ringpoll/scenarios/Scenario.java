package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A server and a client on their own threads, and the steps that every scenario takes. */
abstract class Scenario {
    static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    static final String ADDRESS = TestDevice.address();

    private final String port = ConnectedPair.anyPort();
    private final CountDownLatch listening = new CountDownLatch(1);

    /** The program of one side, on its own thread. */
    interface Side {
        void run() throws Exception;
    }

    /** Runs both sides to their ends; fails if one fails. */
    static void run(final Side server, final Side client) {
        final OtherThread<Void> serverThread = OtherThread.run(() -> {
            server.run();
            return null;
        });
        final OtherThread<Void> clientThread = OtherThread.run(() -> {
            client.run();
            return null;
        });
        clientThread.result();
        serverThread.result();
    }

    /** The port that the server listens on. */
    final String port() {
        return port;
    }

    /** Listens, which lets the client begin. */
    final Endpoint listen(final Peer peer) {
        final Endpoint endpoint = peer.listen(ADDRESS, port);
        listening.countDown();
        return endpoint;
    }

    /** Takes the next request, accepts it and waits until the connection is established. */
    static Connection accept(final Endpoint endpoint, final ConnectionConfig config, final byte... privateData) {
        final Connection connection = endpoint.nextRequest(config, TIMEOUT_MS).orElseThrow().connect(privateData);
        awaitEvent(connection, ConnectionEvent.ESTABLISHED);
        return connection;
    }

    /** Connects to the server, once it listens, and waits until the connection is established. */
    final Connection connect(final Peer peer, final ConnectionConfig config, final byte... privateData) {
        awaitServer();
        final Connection connection = peer.request(ADDRESS, port, config).connect(privateData);
        awaitEvent(connection, ConnectionEvent.ESTABLISHED);
        return connection;
    }

    final void awaitServer() {
        try {
            assertTrue(listening.await(TIMEOUT_MS, TimeUnit.MILLISECONDS), "the server does not listen");
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            fail(e);
        }
    }

    static void awaitEvent(final Connection connection, final ConnectionEvent event) {
        assertEquals(Optional.of(event), connection.nextEvent(TIMEOUT_MS));
    }

    /** Ends the connection from this side, in order. */
    static void disconnect(final Connection connection) {
        connection.disconnect();
        awaitEvent(connection, ConnectionEvent.CLOSED);
    }

    /** Waits until the other side ends the connection, and follows. */
    static void awaitDisconnect(final Connection connection) {
        awaitEvent(connection, ConnectionEvent.CLOSED);
        connection.disconnect();
    }

    /** Waits for the next completion of a queue, which must be a success of that kind. */
    static WorkCompletion awaitSuccess(final Completions completions, final CompletionQueue queue, final int opcode) {
        final WorkCompletion completion = completions.awaitOne(queue);
        assertTrue(completion.isSuccess(), completion::toString);
        assertEquals(WcOpcode.name(opcode), WcOpcode.name(completion.opcode()));
        return completion;
    }

    static void putText(final LocalMemoryRegion region, final String text) {
        region.memory().setString(0, text, StandardCharsets.UTF_8);
    }

    static String text(final LocalMemoryRegion region) {
        return region.memory().getString(0, StandardCharsets.UTF_8);
    }

    static void putCounter(final LocalMemoryRegion region, final long offset, final long value) {
        region.memory().set(ValueLayout.JAVA_LONG, offset, value);
    }

    static long counter(final LocalMemoryRegion region, final long offset) {
        return region.memory().get(ValueLayout.JAVA_LONG, offset);
    }
}
