package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ref.WeakReference;
import java.net.ConnectException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that cannot be established. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ConnectTest {
    private static final int SHORT_MS = 300;
    /** A time that ends, but in which this thread finds the attempt also on a busy machine. */
    private static final int FAIR_MS = 4_000;
    /** A fifth of the time for which a connect continues: a busy machine accepts it in the rest. */
    private static final int FIFTH_MS = 2_000;

    private final Nodes nodes = new Nodes();
    private final TransportCounters counters = new TransportCounters();
    private final String port = ConnectedPair.anyPort();

    @AfterEach
    void close() {
        nodes.close();
    }

    private Node client(final int connectTimeoutMs) {
        return nodes.node(config(connectTimeoutMs), Nodes::echo, counters);
    }

    private static NodeConfig config(final int connectTimeoutMs) {
        return new NodeConfig("client", Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 0,
            connectTimeoutMs, Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false);
    }

    private Link connect(final Node client) throws IOException {
        return Nodes.connect(client, Integer.parseInt(port));
    }

    @Test
    void shouldTimeOutWhenThePeerDoesNotReply() throws Exception {
        final Node client = client(SHORT_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), port)) {
            final long startNs = System.nanoTime();
            assertThrows(ConnectException.class, () -> connect(client));
            assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(SHORT_MS));
            assertTrue(silent.fd() >= 0);
        }
        assertEquals(1, counters.value(Count.CONNECTS_FAILED));
        Nodes.await("its end", client::hasNoLinks);
        assertEquals(0, counters.value(Count.CONNECTIONS_OPENED));
        assertEquals(0, counters.value(Count.CONNECTIONS_CLOSED));
    }

    /**
     * A peer that needs longer for the requests of all its peers than each of them waits finds each request ended, if the next
     * caller begins again: it would never accept any.
     */
    @Test
    void shouldCompleteAConnectThatHasTimedOutForTheNextCaller() throws Exception {
        final Node client = client(FIFTH_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint slow = peer.listen(TestDevice.address(), port)) {
            assertThrows(ConnectException.class, () -> connect(client));
            try (Connection accepted = accept(slow)) {
                final Link link = connect(client);
                assertTrue(link.isOpen());
                assertEquals(1, link.number());
                assertEquals(1, counters.value(Count.CONNECTS_FAILED));
                assertEquals(1, counters.value(Count.CONNECTIONS_OPENED));
                assertTrue(accepted.eventFd() >= 0);
            }
        }
    }

    /**
     * As for the log and for a stream. A request that ends when its caller has waited costs a slow peer as much as one that it
     * accepts: with several callers, it would find ended requests only.
     */
    @Test
    void shouldContinueAllConnectsThatHaveTimedOut() throws Exception {
        final Node client = client(FIFTH_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint slow = peer.listen(TestDevice.address(), port)) {
            final CompletableFuture<Void> other =
                CompletableFuture.runAsync(() -> assertThrows(ConnectException.class, () -> connect(client)));
            assertThrows(ConnectException.class, () -> connect(client));
            other.get(20, TimeUnit.SECONDS);
            try (Connection first = accept(slow); Connection second = accept(slow)) {
                assertEquals(1, connect(client).number());
                assertEquals(2, connect(client).number());
                assertTrue(first.eventFd() >= 0 && second.eventFd() >= 0);
            }
        }
        assertEquals(2, counters.value(Count.CONNECTIONS_OPENED));
    }

    @Test
    void shouldConnectAgainWhenAConnectThatHasTimedOutIsRejected() throws Exception {
        final Node client = client(FIFTH_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint slow = peer.listen(TestDevice.address(), port)) {
            assertThrows(ConnectException.class, () -> connect(client));
            slow.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow().close();
            Nodes.await("its end", client::hasNoLinks);
        }
        final Node server = nodes.node("server", Nodes::echo, new TransportCounters());
        server.listen(TestDevice.address(), Integer.parseInt(port));
        Nodes.assertEchoed(connectInTheEnd(client), Nodes.random(10));
    }

    /** Connects by as many calls as a busy machine needs: each continues the one before. */
    private Link connectInTheEnd(final Node client) throws IOException, InterruptedException {
        while (true) {
            try {
                return connect(client);
            } catch (final ConnectException late) {
                Thread.sleep(1);
            }
        }
    }

    @Test
    void shouldForgetAPeerThatDoesNotCompleteItsConnect() throws Exception {
        final Node server = client(FAIR_MS);
        server.listen(TestDevice.address(), Integer.parseInt(port));
        final long startNs = System.nanoTime();
        // The peer does not fetch the event that the node has accepted it, which would complete the connect.
        try (Peer peer = Peer.ofRemote(TestDevice.address());
            ConnectionRequest request = peer.request(TestDevice.address(), port);
            Connection half = request.connect(new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES).bytes())) {
            Nodes.await("the attempt", () -> !server.hasNoLinks());
            Nodes.await("its end", server::hasNoLinks);
            assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(FAIR_MS));
            assertTrue(half.eventFd() >= 0);
        }
        assertEquals(0, counters.value(Count.CONNECTIONS_OPENED));
        assertEquals(0, counters.value(Count.CONNECTIONS_CLOSED));
    }

    @Test
    void shouldKeepAConnectionBeyondTheTimeToEstablishIt() throws Exception {
        final Node server = client(FAIR_MS);
        server.listen(TestDevice.address(), Integer.parseInt(port));
        final long startNs = System.nanoTime();
        final Link link = connect(nodes.client());
        // The time-out, the grace time of a disconnect, and some ticks.
        Nodes.await("the time",
            () -> System.nanoTime() - startNs > TimeUnit.MILLISECONDS.toNanos(FAIR_MS + SHORT_MS + 1_000));
        Nodes.assertEchoed(link, Nodes.random(10));
        assertEquals(0, counters.value(Count.CONNECTIONS_CLOSED));
        assertFalse(server.hasNoLinks());
    }

    @Test
    void shouldForgetAPeerThatDoesNotReplyToADisconnect() throws Exception {
        final Node server = client(ConnectedPair.TIMEOUT_MS);
        server.listen(TestDevice.address(), Integer.parseInt(port));
        try (RawPeer peer = new RawPeer(Integer.parseInt(port), Nodes.CREDITS)) {
            Nodes.await("the connection", () -> counters.value(Count.CONNECTIONS_OPENED) == 1);
            server.link(1).fail(new IOException("enough"));
            Nodes.await("its end", server::hasNoLinks);
            assertFalse(peer.peer().isClosed());
        }
        assertEquals(1, counters.value(Count.CONNECTIONS_CLOSED));
    }

    @Test
    void shouldStopConnectingOnInterrupt() throws Exception {
        final Node client = client(30_000);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), port)) {
            interruptConnect(client);
            assertTrue(silent.fd() >= 0);
        }
        Nodes.await("its end", client::hasNoLinks);
    }

    private void interruptConnect(final Node client) throws Exception {
        final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        final Thread connecting = Thread.ofPlatform().start(() -> {
            try {
                assertThrows(InterruptedIOException.class, () -> connect(client));
                interrupted.complete(Thread.currentThread().isInterrupted());
            } catch (final AssertionError e) {
                interrupted.completeExceptionally(e);
            }
        });
        Nodes.await("the attempt", () -> !client.hasNoLinks());
        connecting.interrupt();
        assertTrue(interrupted.get(20, TimeUnit.SECONDS));
    }

    private static Connection accept(final Endpoint endpoint) {
        final Connection accepted = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow()
            .connect(new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES).bytes());
        assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), accepted.nextEvent(ConnectedPair.TIMEOUT_MS));
        return accepted;
    }

    /** Else the peer cannot accept it, which is logged there as an error of the device. */
    @Test
    void shouldCompleteAnInterruptedConnectForTheNextCaller() throws Exception {
        final Node client = client(30_000);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            interruptConnect(client);
            try (Connection accepted = accept(endpoint)) {
                final Link link = connect(client);
                assertTrue(link.isOpen());
                assertEquals(1, link.number());
                assertEquals(1, counters.value(Count.CONNECTIONS_OPENED));
                assertTrue(accepted.eventFd() >= 0);
            }
        }
    }

    @Test
    void shouldEndAnInterruptedConnectThatNobodyContinues() throws Exception {
        final Node client = client(FIFTH_MS);
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            interruptConnect(client);
            try (Connection accepted = accept(endpoint)) {
                assertEquals(Optional.of(ConnectionEvent.CLOSED), accepted.nextEvent(ConnectedPair.TIMEOUT_MS));
            }
        }
        Nodes.await("its end", client::hasNoLinks);
    }

    /** With a timer of the JVM, the pending connect kept it for the rest of its time. */
    @Test
    void shouldKeepNoNodeThatIsClosedWithAPendingConnect() throws Exception {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), port)) {
            final WeakReference<Node> closed = closeWithPendingConnect();
            Nodes.await("garbage collection", () -> {
                System.gc();
                return closed.refersTo(null);
            });
            assertTrue(silent.fd() >= 0);
        }
    }

    private WeakReference<Node> closeWithPendingConnect() throws Exception {
        try (Node client = new Node(config(30_000), RdmaApi.RPMA.ofLocal(TestDevice.address()), Nodes::echo, counters)) {
            interruptConnect(client);
            return new WeakReference<>(client);
        }
    }

    @Test
    void shouldReportAPortInUse() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node other = client(ConnectedPair.TIMEOUT_MS);
        final IOException failure = assertThrows(IOException.class, () -> other.listen(TestDevice.address(), server.port()));
        assertTrue(failure.getMessage().contains(":" + server.port()), failure.getMessage());
        other.listen(TestDevice.address(), Integer.parseInt(port));
        Nodes.assertEchoed(connect(nodes.client()), Nodes.random(10));
    }

    @Test
    void shouldNotConnectAfterClose() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node client = client(SHORT_MS);
        client.close();
        client.close();
        assertThrows(AlreadyClosedException.class, () -> Nodes.connect(client, server.port()));
    }

    @Test
    void shouldCountConnectionsOnBothSides() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node client = client(ConnectedPair.TIMEOUT_MS);
        final Link link = Nodes.connect(client, server.port());
        Nodes.assertEchoed(link, Nodes.random(10));
        assertEquals(1, counters.value(Count.CONNECTIONS_OPENED));
        Nodes.await("the connection", () -> server.counters().value(Count.CONNECTIONS_OPENED) == 1);
        link.fail(new IOException("enough"));
        for (final TransportCounters side : new TransportCounters[] {counters, server.counters()}) {
            Nodes.await("its end", () -> side.value(Count.CONNECTIONS_CLOSED) == 1);
        }
        // Counted a moment before.
        Nodes.await("its release", client::hasNoLinks);
        Nodes.await("its release at the server", server.node()::hasNoLinks);
    }
}
