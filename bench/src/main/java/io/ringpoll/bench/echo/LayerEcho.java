package io.ringpoll.bench.echo;

import io.ringpoll.connections.ConnectionListener;
import io.ringpoll.connections.ConnectionSet;
import io.ringpoll.connections.ConnectionSetBuilder;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.device.Device;
import java.net.ConnectException;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The module {@code connections}: a set of the server, and one of the client. */
final class LayerEcho extends JavaEcho {
    static final String NAME = "layer";

    private final boolean overVerbs;
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[EchoScale.MESSAGE_BYTES]);
    private final MessageConnection[] connections;
    private final ConnectionSet server;
    private final ConnectionSet client;

    /** Answers each message. */
    private static final class Server implements ConnectionListener {
        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            return connection.trySend(buffer, offset, length);
        }
    }

    /** Sends the next message after each answer. */
    private final class Client implements ConnectionListener {
        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            if (meter.onAnswer()) {
                send(meter.isPingPong() ? (MessageConnection) connection.attachment() : connection);
            }
            return true;
        }
    }

    LayerEcho(final EchoScale scale, final EchoThreads threads, final boolean overVerbs) throws ConnectException {
        super(scale, threads);
        this.overVerbs = overVerbs;
        connections = new MessageConnection[scale.connections()];
        server = builder(true).listener(new Server()).start();
        boolean connected = false;
        try {
            client = builder(false).listener(new Client()).start();
            connected = connect();
        } finally {
            if (!connected) {
                server.close();
            }
        }
        threads.gate().close();
    }

    private ConnectionSetBuilder builder(final boolean isServer) {
        final ConnectionSetBuilder builder = overVerbs ? ConnectionSet.builder().overVerbs() : ConnectionSet.builder();
        if (overVerbs && scale.connections() > 1) {
            builder.sharedCompletionQueue();
        }
        return builder.name(NAME + (isServer ? "-server" : "-client"))
            .pipelines(only -> threads.pipeline(NAME, isServer)).messagesInFlight(scale.window())
            .maxMessageBytes(EchoScale.MESSAGE_BYTES).maxConnections(scale.connections());
    }

    private boolean connect() throws ConnectException {
        boolean connected = false;
        try {
            final int port = server.listen(0);
            for (int i = 0; i < connections.length; i++) {
                connections[i] = client.connect(Device.current().address().host(), port);
            }
            for (int i = 0; i < connections.length; i++) {
                connections[i].attach(connections[(i + 1) % connections.length]);
            }
            connected = true;
        } finally {
            if (!connected) {
                client.close();
            }
        }
        return connected;
    }

    @Override
    protected void sendFirst() {
        if (!connections[0].execute(this::sendAll)) {
            meter.fail("the client's set executes no tasks");
        }
    }

    private void sendAll() {
        if (meter.isPingPong()) {
            send(connections[0]);
            return;
        }
        for (final MessageConnection connection : connections) {
            for (int i = 0; i < scale.inFlight(); i++) {
                send(connection);
            }
        }
    }

    private void send(final MessageConnection connection) {
        meter.onSend();
        if (!connection.trySend(message, 0, EchoScale.MESSAGE_BYTES)) {
            meter.fail(connection + " has no credit, with half a window in flight");
        }
    }

    @Override
    public void close() {
        threads.gate().open();
        client.close();
        server.close();
    }
}
