package io.ringpoll.bench.echo;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.device.Device;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The same echo by hand: pipelines, connections of librpma, registered memory of each end, and a handler.
 *
 * <p>It keeps no credits: the client never has more messages in flight than the server has receives. There are no events of
 * connections, no partial lengths and no ends of single connections, either. As any program must, it writes to the buffer of a
 * send only after the completion of that send, or of a later one.
 */
final class HandEcho extends JavaEcho {
    static final String NAME = "hand";
    private static final int TIMEOUT_MS = 5_000;
    /** The send queue also has room for sends with completions that have not been polled yet. */
    private static final int SENDS_PER_WINDOW = 4;

    private final UnsafeBuffer message = new UnsafeBuffer(new byte[EchoScale.MESSAGE_BYTES]);
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final End server = new End(true);
    private final End client = new End(false);
    private Pipeline clientPipeline;

    /** A connection at one of its ends. Its memory: a window of receives, then one of sends. */
    private final class Line {
        private final Connection connection;
        private final LocalMemoryRegion region;
        private final UnsafeBuffer bytes;
        private final int firstSend;
        private final int sendsEnd;
        private int nextSend;
        private int unsignalled;
        /** Number of send buffers that the device does not read. */
        private int freeSends;
        private Line next;

        Line(final Connection connection, final LocalMemoryRegion region) {
            this.connection = connection;
            this.region = region;
            bytes = new UnsafeBuffer(region.memory().asByteBuffer());
            firstSend = scale.window() * EchoScale.MESSAGE_BYTES;
            sendsEnd = 2 * firstSend;
            nextSend = firstSend;
            freeSends = scale.window();
        }

        /** Copies the message into the next buffer of a send. */
        void put(final DirectBuffer source, final int offset) {
            if (--freeSends < 0) {
                meter.fail("no send of " + connection.name() + " has completed, and none of its buffers is free");
            }
            bytes.putBytes(nextSend, source, offset, EchoScale.MESSAGE_BYTES);
        }

        void send() {
            final boolean signalled = ++unsignalled >= scale.inFlight();
            if (signalled) {
                unsignalled = 0;
            }
            if (!connection.send(region, nextSend, EchoScale.MESSAGE_BYTES,
                signalled ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, 0)) {
                meter.fail("the send queue of " + connection.name() + " is full");
            }
            nextSend = nextSend + EchoScale.MESSAGE_BYTES == sendsEnd ? firstSend : nextSend + EchoScale.MESSAGE_BYTES;
        }

        /** A signalled send has completed, and those before it. */
        void onSent() {
            freeSends += scale.inFlight();
        }

        void receive(final long offset) {
            if (!connection.receive(region, offset, EchoScale.MESSAGE_BYTES, offset)) {
                meter.fail("the receive queue of " + connection.name() + " is full");
            }
        }
    }

    /** The handler of one end. */
    private final class End implements CompletionHandler {
        private final boolean isServer;
        private final Line[] lines = new Line[scale.connections()];

        End(final boolean isServer) {
            this.isServer = isServer;
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            final CompletionPath path = completion.path();
            if (path == CompletionPath.RECEIVE) {
                final Line line = (Line) completion.attachment();
                final long offset = completion.workRequestId();
                if (isServer) {
                    line.put(line.bytes, (int) offset);
                    line.send();
                } else {
                    onAnswer(line);
                }
                // Later than the send: only half of the receives have a message in flight.
                line.receive(offset);
            } else if (path == CompletionPath.SEND_WRITE) {
                ((Line) completion.attachment()).onSent();
            } else {
                meter.fail("a work request has failed: " + completion);
            }
        }
    }

    HandEcho(final EchoScale scale, final EchoThreads threads) {
        super(scale, threads);
        boolean connected = false;
        try {
            connect();
            start(server);
            clientPipeline = start(client);
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
        threads.gate().close();
    }

    private void connect() {
        final String host = Device.current().address().host();
        final Peer peer = opened(Peer.ofLocal(host));
        try (Endpoint endpoint = peer.listen(host, "0"); ConnectionConfig config = ConnectionConfig.create()
            .sqSize(SENDS_PER_WINDOW * scale.window()).rqSize(scale.window()).cqSize((1 + SENDS_PER_WINDOW) * scale.window())) {
            for (int i = 0; i < scale.connections(); i++) {
                final ConnectionRequest outgoing = peer.request(host, Integer.toString(endpoint.port()), config);
                client.lines[i] = connect(peer, outgoing);
                final ConnectionRequest incoming = endpoint.nextRequest(config, TIMEOUT_MS)
                    .orElseThrow(() -> new IllegalStateException("no connection request within " + TIMEOUT_MS + " ms"));
                server.lines[i] = connect(peer, incoming);
                awaitEstablished(client.lines[i].connection);
                awaitEstablished(server.lines[i].connection);
            }
        }
        for (int i = 0; i < scale.connections(); i++) {
            client.lines[i].next = client.lines[(i + 1) % scale.connections()];
        }
    }

    private Line connect(final Peer peer, final ConnectionRequest request) {
        final LocalMemoryRegion region = opened(
            peer.allocate(2L * scale.window() * EchoScale.MESSAGE_BYTES, MemoryUsage.SEND, MemoryUsage.RECEIVE));
        for (int i = 0; i < scale.window(); i++) {
            final long offset = (long) i * EchoScale.MESSAGE_BYTES;
            request.receive(region, offset, EchoScale.MESSAGE_BYTES, offset);
        }
        return new Line(opened(request.connect()), region);
    }

    private static void awaitEstablished(final Connection connection) {
        final Optional<ConnectionEvent> event = connection.nextEvent(TIMEOUT_MS);
        if (!event.equals(Optional.of(ConnectionEvent.ESTABLISHED))) {
            throw new IllegalStateException(connection.name() + " was not established: " + event);
        }
    }

    private Pipeline start(final End end) {
        final PipelineBuilder builder = threads.pipeline(NAME, end.isServer).onAll(end);
        for (final Line line : end.lines) {
            // The window bounds the work requests in flight.
            builder.queue(line.connection.completionQueue().withoutBudget(), line);
        }
        return opened(builder.start());
    }

    private void onAnswer(final Line line) {
        if (meter.onAnswer()) {
            sendNext(meter.isPingPong() ? line.next : line);
        }
    }

    private void sendNext(final Line line) {
        meter.onSend();
        line.put(message, 0);
        line.send();
    }

    @Override
    protected void sendFirst() {
        if (!clientPipeline.execute(this::sendAll)) {
            meter.fail("the client's pipeline executes no tasks");
        }
    }

    private void sendAll() {
        if (meter.isPingPong()) {
            sendNext(client.lines[0]);
            return;
        }
        for (final Line line : client.lines) {
            for (int i = 0; i < scale.inFlight(); i++) {
                sendNext(line);
            }
        }
    }

    private <T extends AutoCloseable> T opened(final T resource) {
        opened.push(resource);
        return resource;
    }

    @Override
    public void close() {
        threads.gate().open();
        while (!opened.isEmpty()) {
            CloseHelper.close(opened.pop());
        }
    }
}
