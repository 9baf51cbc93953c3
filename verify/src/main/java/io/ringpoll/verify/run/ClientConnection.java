package io.ringpoll.verify.run;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;

/**
 * A client connection with its resources, from the request to the orderly end.
 *
 * <p>Used by the posting thread only.
 */
final class ClientConnection implements AutoCloseable {
    private final PolledQueues queues;
    private final RegisteredMemory memory;
    private final Connection connection;
    private final RemoteMemoryRegion cells;
    private final Welcome welcome;
    private volatile boolean peerGone;

    private ClientConnection(
        final PolledQueues queues, final RegisteredMemory memory, final Connection connection, final Welcome welcome) {
        this.queues = queues;
        this.memory = memory;
        this.connection = connection;
        this.welcome = welcome;
        this.cells = RemoteMemoryRegion.ofDescriptor(welcome.cells());
    }

    /** Connects, exchanges descriptors, and adds the queues to the poller. */
    static ClientConnection open(final Peer peer, final RunConfig config, final Hello hello, final PolledQueues queues) {
        final ServerLayout layout = new ServerLayout(hello.depth(), hello.payloadBytes());
        RegisteredMemory memory = null;
        Connection connection = null;
        try (ConnectionConfig sizes = Connections.clientConfig(config)) {
            memory = RegisteredMemory.allocate(
                peer, layout.clientLengthBytes(),
                MemoryUsage.WRITE_SOURCE, MemoryUsage.READ_DESTINATION, MemoryUsage.SEND, MemoryUsage.RECEIVE);
            connection = peer.request(config.address(), Integer.toString(config.port()), sizes).connect(hello.encode());
            Connections.awaitEstablished(connection);
            final Welcome welcome = Welcome.decode(connection.privateData());
            final ClientConnection opened = new ClientConnection(queues, memory, connection, welcome);
            queues.add(connection);
            return opened;
        } catch (final RuntimeException failure) {
            if (connection != null) {
                connection.close();
            }
            if (memory != null) {
                memory.close();
            }
            throw new IllegalStateException(
                "no connection to " + config.address() + ", port " + config.port() + " (is the server there?): " +
                    failure.getMessage(), failure);
        }
    }

    Connection connection() {
        return connection;
    }

    RegisteredMemory memory() {
        return memory;
    }

    RemoteMemoryRegion cells() {
        return cells;
    }

    /** The region on which the failing operation of this connection must fail; closed by the caller. */
    RemoteMemoryRegion refused() {
        return RemoteMemoryRegion.ofDescriptor(welcome.refused());
    }

    /** Whether the peer has disconnected or died; its outstanding work requests are flushed then. One thread at a time. */
    boolean hasPeerGone() {
        if (!peerGone && connection.nextEvent(0).isPresent()) {
            peerGone = true;
            connection.disconnect();
        }
        return peerGone;
    }

    /** Disconnects from the peer; outstanding work requests are flushed. */
    void disconnect() {
        if (!peerGone) {
            connection.disconnect();
        }
    }

    /** Removes the queues from the poller and frees all resources; no work request may be outstanding. */
    @Override
    public void close() {
        queues.remove(connection);
        cells.close();
        connection.close();
        memory.close();
    }
}
