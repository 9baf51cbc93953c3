package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/** Nodes on the device under test, closed in reverse order, and messages for them. */
final class Nodes implements AutoCloseable {
    static final int CREDITS = 4;
    static final int BUFFER_BYTES = 1024;
    static final int MAX_MESSAGE_BYTES = 16 << 20;
    static final int CLOSE_MS = 10_000;

    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(20);

    private final Deque<Opened> opened = new ArrayDeque<>();
    private final RdmaApi api;

    Nodes() {
        this(RdmaApi.RPMA);
    }

    Nodes(final RdmaApi api) {
        this.api = api;
    }

    /** A node and its device. */
    private record Opened(Node node, RcPeer device) {
    }

    /** A listening node. */
    record Server(Node node, int port, TransportCounters counters) {
        /**
         * Waits until the server has processed the events of its first connections: the end of a connection that is not
         * established is not counted.
         */
        void awaitOpened(final int connections) throws InterruptedException {
            await("established connections", () -> counters.value(Count.CONNECTIONS_OPENED) == connections);
        }
    }

    /** Replies to each request with its content. */
    static CompletableFuture<MessageLite> echo(final MessageType type, final MessageLite request) {
        return CompletableFuture.completedFuture(RaftClientReplyProto.newBuilder()
            .setMessage(((RaftClientRequestProto) request).getMessage()).build());
    }

    static RaftClientRequestProto request(final ByteString content) {
        return RaftClientRequestProto.newBuilder()
            .setMessage(ClientMessageEntryProto.newBuilder().setContent(content)).build();
    }

    static ByteString random(final int lengthBytes) {
        final byte[] bytes = new byte[lengthBytes];
        ThreadLocalRandom.current().nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    static NodeConfig config(final String name, final HandlerThreads handlers) {
        return config(name, PollerConfig.own(handlers));
    }

    static NodeConfig config(final String name, final PollerConfig poller) {
        return new NodeConfig(name, BUFFER_BYTES, CREDITS, 8, MAX_MESSAGE_BYTES, 1 << 20, ConnectedPair.TIMEOUT_MS,
            CLOSE_MS, poller, false);
    }

    Node node(final String name, final RequestHandler requests, final TransportCounters counters) {
        return node(config(name, HandlerThreads.POLLER), requests, counters);
    }

    Node node(final NodeConfig config, final RequestHandler requests, final TransportCounters counters) {
        final RcPeer device = api.ofLocal(TestDevice.address());
        final Node node = new Node(config, device, requests, counters);
        opened.push(new Opened(node, device));
        return node;
    }

    Node client() {
        return node("client", (type, request) -> CompletableFuture.failedFuture(new IOException("not me")),
            new TransportCounters());
    }

    Server server(final RequestHandler requests) throws IOException {
        return server(config("server", HandlerThreads.POLLER), requests);
    }

    Server server(final NodeConfig config, final RequestHandler requests) throws IOException {
        final TransportCounters counters = new TransportCounters();
        final Node node = node(config, requests, counters);
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        node.listen(TestDevice.address(), port);
        return new Server(node, port, counters);
    }

    static Link connect(final Node client, final int port) throws IOException {
        return client.connect(TestDevice.address(), port, "server");
    }

    /** Sends a content and checks the echo. */
    static void assertEchoed(final Link link, final ByteString content) throws Exception {
        assertEquals(content, reply(link, content).get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
    }

    static CompletableFuture<ByteString> reply(final Link link, final ByteString content) {
        return link.request(MessageType.CLIENT_REQUEST, request(content)).future()
            .thenApply(message -> ((RaftClientReplyProto) message).getMessage().getContent());
    }

    /** Waits until a condition holds. */
    static void await(final String event, final BooleanSupplier condition) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                fail("did not occur: " + event);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    /** Closes the nodes; each must have released all its resources, because its device cannot be closed before. */
    @Override
    public void close() {
        while (!opened.isEmpty()) {
            final Opened last = opened.pop();
            last.node.close();
            try {
                await("the close of the device of " + last.node.config().name(), last.device::isClosed);
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
