package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The ways in which connections end, or are never established, and their remains. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ConnectionEndTest {
    private static final int SHORT_MS = 300;
    private static final int GRACE_MS = 500;
    private static final int FREE_WITHIN_S = 3;

    private final Nodes nodes = new Nodes();
    private final TransportCounters counters = new TransportCounters();
    private final String port = ConnectedPair.anyPort();

    @AfterEach
    void close() {
        nodes.close();
    }

    private static NodeConfig config(final String name, final int connectTimeoutMs, final int closeTimeoutMs) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 0, connectTimeoutMs,
            closeTimeoutMs, PollerConfig.own(HandlerThreads.POLLER), false);
    }

    private Node node(final int connectTimeoutMs) {
        return nodes.node(config("client", connectTimeoutMs, Nodes.CLOSE_MS), Nodes::echo, counters);
    }

    private Link connect(final Node client) throws IOException {
        return Nodes.connect(client, Integer.parseInt(port));
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }

    @Test
    void shouldGiveAPeerTimeToReplyToADisconnect() throws Exception {
        final Node server = node(ConnectedPair.TIMEOUT_MS);
        server.listen(TestDevice.address(), Integer.parseInt(port));
        try (RawPeer peer = new RawPeer(Integer.parseInt(port), Nodes.CREDITS)) {
            Nodes.await("the connection", () -> counters.value(Count.CONNECTIONS_OPENED) == 1);
            final long startNs = System.nanoTime();
            server.link(1).fail(new IOException("enough"));
            Nodes.await("its end", server::hasNoLinks);
            assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(GRACE_MS));
            assertFalse(peer.peer().isClosed());
        }
    }

    @Test
    void shouldReportAServerOfAnotherProtocol() throws Exception {
        final Node client = node(ConnectedPair.TIMEOUT_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            final CompletableFuture<Link> connecting = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                try {
                    connecting.complete(connect(client));
                } catch (final IOException e) {
                    connecting.completeExceptionally(e);
                }
            });
            try (ConnectionRequest request = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow();
                Connection foreign = request.connect(new byte[] {1, 2, 3})) {
                assertInstanceOf(ProtocolException.class, failureOf(connecting).getCause());
                assertTrue(foreign.eventFd() >= 0);
            }
        }
    }

    @Test
    void shouldDropAConnectionThatIsEstablishedTooLate() throws Exception {
        final Node client = node(SHORT_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port);
            ConnectionConfig sizes = ConnectionConfig.create()) {
            assertThrows(ConnectException.class, () -> connect(client));
            try (ConnectionRequest request = endpoint.nextRequest(sizes, ConnectedPair.TIMEOUT_MS).orElseThrow();
                Connection late = request.connect(new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES).bytes())) {
                assertTrue(late.eventFd() >= 0);
            } catch (final RpmaException e) {
                // The client has ended its attempt already.
                assertTrue(e.getMessage().contains("rpma_conn_req_connect"), e.getMessage());
            }
            Nodes.await("its end", client::hasNoLinks);
        }
        // It may have been established before its end had been processed.
        assertEquals(counters.value(Count.CONNECTIONS_CLOSED), counters.value(Count.CONNECTIONS_OPENED));
        assertEquals(1, counters.value(Count.CONNECTS_FAILED));
    }

    @Test
    void shouldDistinguishARejectionFromADisconnect() throws Exception {
        final Nodes.Server server = nodes.server(config("server", ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS), (type, request) ->
            new CompletableFuture<>());
        final Node client = node(ConnectedPair.TIMEOUT_MS);
        final Link link = Nodes.connect(client, server.port());
        server.awaitOpened(1);
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(10));
        server.node().link(1).fail(new IOException("enough"));
        final Throwable disconnect = failureOf(reply).getCause();
        assertEquals(IOException.class, disconnect.getClass());
        assertTrue(disconnect.getMessage().contains("the connection is "), disconnect.getMessage());
        // A peer that a node does not accept: it has as many connections as it may have.
        for (int i = 0; i < 8; i++) {
            Nodes.connect(nodes.client(), server.port());
        }
        Nodes.await("the end of the first", client::hasNoLinks);
        final ConnectException refused = assertThrows(ConnectException.class, () -> Nodes.connect(client, server.port()));
        assertEquals(ConnectException.class, refused.getCause().getClass());
        assertEquals("the connection is REJECTED", refused.getCause().getMessage());
    }

    @Test
    void shouldFailALinkThatIsNotEstablishedInTime() throws Exception {
        // A time that ends, but in which this thread finds the link also on a busy machine.
        final Node server = node(4_000);
        server.listen(TestDevice.address(), Integer.parseInt(port));
        try (Peer peer = Peer.ofRemote(TestDevice.address());
            ConnectionRequest request = peer.request(TestDevice.address(), port);
            Connection half = request.connect(new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES).bytes())) {
            Nodes.await("the attempt", () -> !server.hasNoLinks());
            final Link link = server.link(1);
            Nodes.await("its end", server::hasNoLinks);
            assertFalse(link.isOpen());
            assertInstanceOf(ConnectException.class, failureOf(link.established()));
            assertTrue(half.eventFd() >= 0);
        }
    }

    /** A link of a node that its thread for connections does not have yet. */
    private static Link attached(final Node node, final RcPeer device, final int port) throws Exception {
        try (RcRequest request = device.request(TestDevice.address(), port, node.config().connectionConfig())) {
            return node.attach("server", request, Handshake.requesting(node.config()), null);
        }
    }

    @Test
    void shouldEndALinkThatHasFailedBeforeItsThreadHasIt() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final RcPeer device = RdmaApi.RPMA.ofLocal(TestDevice.address());
        try (Node client = new Node(config("early", ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS), device, Nodes::echo, counters)) {
            final Link link = attached(client, device, server.port());
            link.fail(new IOException("enough"));
            client.keeper().keep(link);
            Nodes.await("its end", client::hasNoLinks);
            assertEquals(0, counters.value(Count.CONNECTIONS_OPENED), "not only when the server finds out");
        }
        Nodes.await("the release of everything", device::isClosed);
    }

    @Test
    void shouldEndALinkThatAppearsDuringTheClose() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final RcPeer device = RdmaApi.RPMA.ofLocal(TestDevice.address());
        final Node client = new Node(config("closing", ConnectedPair.TIMEOUT_MS, 20_000), device, Nodes::echo, counters);
        final Link link = attached(client, device, server.port());
        final Thread closing = Thread.ofPlatform().start(client::close);
        Nodes.await("the wait for the link", () -> closing.getState() == Thread.State.TIMED_WAITING);
        client.keeper().keep(link);
        Nodes.await("the release of everything", device::isClosed);
        closing.join();
        assertFalse(link.isOpen());
    }

    @Test
    void shouldFreeItsPortWhileAHandlerDoesNotReturn() throws Exception {
        final CountDownLatch handling = new CountDownLatch(1);
        final CountDownLatch returning = new CountDownLatch(1);
        final Node server = nodes.node(config("server", ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS), (type, request) -> {
            handling.countDown();
            awaitRelease(returning);
            return Nodes.echo(type, request);
        }, new TransportCounters());
        server.listen(TestDevice.address(), Integer.parseInt(port));
        final Link link = connect(node(ConnectedPair.TIMEOUT_MS));
        link.request(MessageType.CLIENT_REQUEST, Nodes.request(ByteString.EMPTY));
        assertTrue(handling.await(10, TimeUnit.SECONDS));
        // The poller stays with the handler, and the ended connection with the poller.
        link.fail(new IOException("the peer has left"));
        TimeUnit.MILLISECONDS.sleep(SHORT_MS);
        final long startNs = System.nanoTime();
        final Thread closer = Thread.ofPlatform().start(server::close);
        try {
            final Node next = node(ConnectedPair.TIMEOUT_MS);
            Nodes.await("the free port", () -> listens(next));
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(FREE_WITHIN_S));
            assertTrue(closer.isAlive());
            // It would keep another port for as long.
            assertThrows(AlreadyClosedException.class,
                () -> server.listen(TestDevice.address(), Integer.parseInt(ConnectedPair.anyPort())));
        } finally {
            returning.countDown();
            closer.join();
        }
    }

    private static void awaitRelease(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean listens(final Node node) {
        try {
            node.listen(TestDevice.address(), Integer.parseInt(port));
            return true;
        } catch (final IOException inUse) {
            return false;
        }
    }

    @Test
    void shouldNotWaitForAConnectionOnTheThreadOfConnectionEvents() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        final Nodes.Server other = nodes.server(Nodes::echo);
        final Node client = node(ConnectedPair.TIMEOUT_MS);
        final CompletableFuture<Link> second = Nodes.reply(Nodes.connect(client, server.port()), Nodes.random(10))
            .handle((reply, failure) -> {
                try {
                    return Nodes.connect(client, other.port());
                } catch (final IOException e) {
                    throw new IllegalArgumentException(e);
                }
            });
        server.node().close();
        final Throwable failure = failureOf(second);
        assertInstanceOf(IllegalStateException.class, failure);
        assertEquals(0, other.counters().value(Count.CONNECTIONS_OPENED));
    }

    @Test
    void shouldNotListenForAnInterruptedThread() throws Exception {
        final Node server = node(SHORT_MS);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, () -> server.listen(TestDevice.address(), Integer.parseInt(port)));
        assertTrue(Thread.interrupted());
        final InterruptedIOException whileConnecting = assertThrows(InterruptedIOException.class, () -> {
            Thread.currentThread().interrupt();
            connect(server);
        });
        assertEquals("interrupted while connecting to server", whileConnecting.getMessage());
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldLeaveNoFileOpen() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        try (Nodes first = new Nodes()) {
            Nodes.assertEchoed(Nodes.connect(first.client(), server.port()), Nodes.random(10));
        }
        Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        final int files = ProcessResources.fileDescriptors();
        try (Nodes own = new Nodes()) {
            Nodes.assertEchoed(Nodes.connect(own.client(), server.port()), Nodes.random(10));
        }
        Nodes.await("the close of all files", () -> ProcessResources.fileDescriptors() <= files);
    }
}
