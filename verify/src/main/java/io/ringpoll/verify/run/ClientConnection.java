package io.ringpoll.verify.run;

import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;



/**
 * A client connection with its resources, from the request to the orderly end.
 *
 * <p>Used by the posting thread only.
 */
final class ClientConnection implements AutoCloseable {
    private final RcPeer peer;
    private final PolledQueues queues;
    private final RegisteredMemory memory;
    private final RcConnection connection;
    private final RcRemoteMemory cells;
    private final Welcome welcome;
    private volatile boolean peerGone;

    private ClientConnection(
        final RcPeer peer, final PolledQueues queues, final RegisteredMemory memory, final RcConnection connection,
        final Welcome welcome) {
        this.peer = peer;
        this.queues = queues;
        this.memory = memory;
        this.connection = connection;
        this.welcome = welcome;
        this.cells = peer.remote(welcome.cells());
    }

    /** Connects, exchanges descriptors, and adds the queues to the poller. */
    static ClientConnection open(final RcPeer peer, final RunConfig config, final Hello hello, final PolledQueues queues) {
        final ServerLayout layout = new ServerLayout(hello.depth(), hello.payloadBytes());
        RegisteredMemory memory = null;
        RcConnection connection = null;
        try {
            memory = RegisteredMemory.allocate(
                peer, layout.clientLengthBytes(),
                RcUsage.WRITE_SOURCE, RcUsage.READ_DESTINATION, RcUsage.SEND, RcUsage.RECEIVE);
            connection = peer.request(config.address(), config.port(), Connections.clientConfig(config))
                .connect(hello.encode());
            Connections.awaitEstablished(connection);
            final Welcome welcome = Welcome.decode(connection.privateData());
            final ClientConnection opened = new ClientConnection(peer, queues, memory, connection, welcome);
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

    RcConnection connection() {
        return connection;
    }

    RegisteredMemory memory() {
        return memory;
    }

    RcRemoteMemory cells() {
        return cells;
    }

    /** The region on which the failing operation of this connection must fail; closed by the caller. */
    RcRemoteMemory refused() {
        return peer.remote(welcome.refused());
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
