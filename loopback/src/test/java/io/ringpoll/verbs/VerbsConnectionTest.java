package io.ringpoll.verbs;

import static io.ringpoll.testing.VerbsPair.TIMEOUT_MS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.os.Errno;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Connections by librdmacm: resolution, requests and answers, private data, events, time-outs, and calls in every state. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsConnectionTest {
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] WELCOME = "welcome".getBytes(StandardCharsets.US_ASCII);

    @Test
    void shouldConnectWithPrivateDataInBothDirections() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); Side client = Side.to(listener)) {
            client.id.connect(ConnectionParameters.create().privateData(HELLO));
            assertEquals(ConnectionState.CONNECTING, client.id.state());
            try (Side server = Side.of(listener.nextRequest(TIMEOUT_MS).orElseThrow())) {
                assertArrayEquals(HELLO, Arrays.copyOf(server.id.privateData(), HELLO.length));
                assertEquals(VerbsPair.address(), server.id.remoteAddress().orElseThrow().getAddress());
                assertEquals(listener.port(), server.id.localAddress().orElseThrow().getPort());
                server.id.accept(ConnectionParameters.create().privateData(WELCOME));
                final ConnectionEvent established = VerbsPair.await(client.id, ConnectionEventType.ESTABLISHED);
                assertArrayEquals(WELCOME, Arrays.copyOf(established.privateData(), WELCOME.length));
                VerbsPair.await(server.id, ConnectionEventType.ESTABLISHED);
                assertEquals(ConnectionState.ESTABLISHED, client.id.state());
                assertEquals(ConnectionState.ESTABLISHED, server.id.state());
            }
        }
    }

    @Test
    void shouldRejectWithPrivateData() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); Side client = Side.to(listener)) {
            client.id.connect(ConnectionParameters.create());
            try (ConnectionId request = listener.nextRequest(TIMEOUT_MS).orElseThrow()) {
                request.reject(WELCOME);
                assertEquals(ConnectionState.REJECTED, request.state());
                assertThrows(IllegalStateException.class, () -> request.reject(WELCOME));
            }
            final ConnectionEvent rejected = VerbsPair.await(client.id, ConnectionEventType.REJECTED);
            assertEquals(28, rejected.status());
            assertArrayEquals(WELCOME, Arrays.copyOf(rejected.privateData(), WELCOME.length));
            assertEquals(ConnectionState.FAILED, client.id.state());
        }
    }

    /** Whether a side knows when its caller has withdrawn: between processes, the message may still be on its way. */
    private static boolean knowsAtOnce() {
        return TestDevice.isLoopback() && System.getenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE") == null;
    }

    @Test
    void shouldSayWhyARequestThatTheOtherSideHasWithdrawnCannotBeAnswered() throws Throwable {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1)) {
            final ConnectionId request;
            try (Side client = Side.to(listener)) {
                client.id.connect(ConnectionParameters.create());
                request = listener.nextRequest(TIMEOUT_MS).orElseThrow();
            }
            try (Side server = Side.of(request)) {
                for (final Executable answer : List.<Executable>of(
                    () -> server.id.accept(ConnectionParameters.create()), () -> server.id.reject(WELCOME))) {
                    try {
                        answer.execute();
                        assertFalse(knowsAtOnce(), "only the kernel or another process takes the answer to such a request");
                        break;
                    } catch (final VerbsException e) {
                        assertTrue(e.getMessage().contains("the other side may have closed its end"), e::getMessage);
                    }
                }
            } catch (final VerbsException e) {
                assertFalse(TestDevice.isLoopback(), "only the kernel may have no queue pair for such a request: " + e);
            } finally {
                request.close();
            }
        }
    }

    @Test
    void shouldRejectARequestThatIsClosedWithoutAnAnswer() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); Side client = Side.to(listener)) {
            client.id.connect(ConnectionParameters.create());
            listener.nextRequest(TIMEOUT_MS).orElseThrow().close();
            VerbsPair.await(client.id, ConnectionEventType.REJECTED);
        }
    }

    @Test
    void shouldReportThatNobodyListens() {
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        try (Side client = new Side(ConnectionId.resolve(new InetSocketAddress(VerbsPair.address(), port), TIMEOUT_MS))) {
            client.id.connect(ConnectionParameters.create());
            assertEquals(8, VerbsPair.await(client.id, ConnectionEventType.REJECTED).status());
        }
    }

    @Test
    void shouldReturnWithoutAnEventAfterATimeOut() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); ConnectionId id = ConnectionId.create()) {
            assertEquals(Optional.empty(), listener.nextRequest(0));
            assertEquals(Optional.empty(), listener.nextRequest(1));
            assertEquals(Optional.empty(), id.nextEvent(0));
            assertEquals(Optional.empty(), id.nextEvent(1));
            Thread.currentThread().interrupt();
            assertEquals(Optional.empty(), id.nextEvent(0));
            assertThrows(WaitInterruptedException.class, () -> id.nextEvent(1));
            assertThrows(WaitInterruptedException.class, () -> listener.nextRequest(1));
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void shouldEndTheWaitOfAnotherThreadWhenClosed() {
        final Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
        final ConnectionId id = ConnectionId.create();
        final OtherThread<Optional<ConnectionId>> taker = OtherThread.run(() -> listener.nextRequest(-1));
        final OtherThread<Optional<ConnectionEvent>> waiter = OtherThread.run(() -> id.nextEvent(-1));
        taker.requireWaiting();
        waiter.requireWaiting();
        listener.close();
        id.close();
        taker.failure(IllegalStateException.class);
        waiter.failure(IllegalStateException.class);
    }

    @Test
    void shouldDisconnectFromBothSides() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            pair.clientId().disconnect();
            assertEquals(ConnectionState.DISCONNECTING, pair.clientId().state());
            pair.clientId().disconnect();
            VerbsPair.await(pair.serverId(), ConnectionEventType.DISCONNECTED);
            assertEquals(ConnectionState.REMOTE_DISCONNECTED, pair.serverId().state());
            pair.serverId().disconnect();
            assertEquals(ConnectionState.DISCONNECTED, pair.serverId().state());
            VerbsPair.await(pair.clientId(), ConnectionEventType.DISCONNECTED);
            assertEquals(ConnectionState.DISCONNECTED, pair.clientId().state());
            pair.serverId().disconnect();
        }
    }

    @Test
    void shouldRefuseCallsInAWrongState() {
        final ConnectionParameters parameters = ConnectionParameters.create();
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); ConnectionId id = ConnectionId.create()) {
            assertRefused(id, "IDLE", () -> id.resolveRoute(1), () -> id.connect(parameters), () -> id.accept(parameters),
                () -> id.reject(HELLO), id::disconnect);
            assertThrows(IllegalStateException.class, id::context);
            assertEquals(Optional.empty(), id.remoteAddress());
            id.trafficClass(46 << 2);
            id.localAckTimeout(14);
            id.resolveAddress(VerbsPair.at(listener), TIMEOUT_MS);
            assertEquals(ConnectionState.RESOLVING_ADDRESS, id.state());
            assertRefused(id, "RESOLVING_ADDRESS", () -> id.bind(VerbsPair.anyAddress()), () -> id.trafficClass(1));
            VerbsPair.await(id, ConnectionEventType.ADDR_RESOLVED);
            assertRefused(id, "ADDRESS_RESOLVED", () -> id.connect(parameters));
            id.resolveRoute(TIMEOUT_MS);
            VerbsPair.await(id, ConnectionEventType.ROUTE_RESOLVED);
            assertThrows(IllegalStateException.class, () -> id.connect(parameters), "without a queue pair");
            try (Side side = new Side(id)) {
                assertThrows(IllegalStateException.class, id::close);
                assertThrows(IllegalStateException.class,
                    () -> id.createQueuePair(side.domain, QueuePairAttributes.create(side.queue)));
            }
            assertTrue(id.isClosed());
            id.close();
            for (final Executable call : List.<Executable>of(() -> id.resolveRoute(1), () -> id.connect(parameters),
                () -> id.accept(parameters), () -> id.reject(HELLO), id::disconnect, () -> id.nextEvent(0), id::context,
                id::localAddress, id::remoteAddress, () -> id.trafficClass(1), () -> id.bind(VerbsPair.anyAddress()))) {
                assertTrue(assertThrows(IllegalStateException.class, call).getMessage().contains("closed"));
            }
            assertEquals(ConnectionState.ROUTE_RESOLVED, id.state());
        }
    }

    private static void assertRefused(final ConnectionId id, final String state, final Executable... calls) {
        for (final Executable call : calls) {
            final String message = assertThrows(IllegalStateException.class, call).getMessage();
            assertTrue(message.contains(state) && message.contains(id.name()), message);
        }
    }

    @Test
    void shouldRefuseWrongArguments() {
        final InetSocketAddress unknown = InetSocketAddress.createUnresolved("no.such.host.invalid", 1);
        assertThrows(IllegalArgumentException.class, () -> ConnectionId.resolve(unknown, 0));
        assertThrows(IllegalArgumentException.class, () -> Listener.listen(unknown, 0));
        assertThrows(IllegalArgumentException.class, () -> Listener.listen(VerbsPair.anyAddress(), -1));
        assertThrows(IllegalArgumentException.class, () -> ConnectionParameters.create().privateData(new byte[256]));
        assertThrows(IllegalArgumentException.class, () -> ConnectionParameters.create().retryCount(8));
        assertThrows(IllegalArgumentException.class, () -> ConnectionParameters.create().rnrRetryCount(-1));
        assertThrows(IllegalArgumentException.class, () -> ConnectionParameters.create().initiatorDepth(256));
        try (ConnectionId id = ConnectionId.create()) {
            assertThrows(IllegalArgumentException.class, () -> id.trafficClass(256));
            assertThrows(IllegalArgumentException.class, () -> id.localAckTimeout(32));
            assertThrows(IllegalArgumentException.class, () -> id.reject(new byte[149]));
        }
    }

    @Test
    void shouldReportTooMuchPrivateDataForTheTransport() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); Side client = Side.to(listener)) {
            final VerbsException failure = assertThrows(VerbsException.class,
                () -> client.id.connect(ConnectionParameters.create().privateData(new byte[57])));
            assertEquals("rdma_connect", failure.function());
            assertEquals(Errno.EINVAL, failure.errno());
            assertTrue(failure.getMessage().contains("carry 56"), failure::getMessage);
            assertEquals(ConnectionState.ROUTE_RESOLVED, client.id.state());
        }
    }

    /** The request is rejected: by the kernel at once, by this side's close at the latest. */
    @Test
    void shouldReportTooMuchPrivateDataOfAnAcceptance() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); Side client = Side.to(listener)) {
            client.id.connect(ConnectionParameters.create());
            try (Side server = Side.of(listener.nextRequest(TIMEOUT_MS).orElseThrow())) {
                final VerbsException failure = assertThrows(VerbsException.class,
                    () -> server.id.accept(ConnectionParameters.create().privateData(new byte[197])));
                assertEquals("rdma_accept", failure.function());
                assertEquals(Errno.EINVAL, failure.errno());
                assertTrue(failure.getMessage().contains("197 bytes of private data may be too many: InfiniBand and RoCE" +
                    " carry 196 here; send more as a message"), failure::getMessage);
                assertEquals(ConnectionState.REQUESTED, server.id.state());
            }
            VerbsPair.await(client.id, ConnectionEventType.REJECTED);
        }
    }

    @Test
    void shouldCarryAsMuchPrivateDataAsAnAcceptanceMayHave() {
        final byte[] most = new byte[196];
        Arrays.fill(most, (byte) 7);
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); Side client = Side.to(listener)) {
            client.id.connect(ConnectionParameters.create());
            try (Side server = Side.of(listener.nextRequest(TIMEOUT_MS).orElseThrow())) {
                server.id.accept(ConnectionParameters.create().privateData(most));
                assertArrayEquals(most, VerbsPair.await(client.id, ConnectionEventType.ESTABLISHED).privateData());
                VerbsPair.await(server.id, ConnectionEventType.ESTABLISHED);
            }
        }
    }

    /** As the device reports them. */
    @Test
    void shouldConnectWithItsTrafficClassTimeOutAndRetries() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1); ConnectionId id = ConnectionId.create()) {
            id.trafficClass(46 << 2);
            id.localAckTimeout(17);
            id.resolveAddress(VerbsPair.at(listener), TIMEOUT_MS);
            VerbsPair.await(id, ConnectionEventType.ADDR_RESOLVED);
            id.resolveRoute(TIMEOUT_MS);
            VerbsPair.await(id, ConnectionEventType.ROUTE_RESOLVED);
            try (Side client = Side.of(id)) {
                id.connect(ConnectionParameters.create().retryCount(5).rnrRetryCount(3));
                try (Side server = Side.of(listener.nextRequest(TIMEOUT_MS).orElseThrow())) {
                    // Each side's retries of this kind are set by the other one.
                    server.id.accept(ConnectionParameters.create().rnrRetryCount(3));
                    VerbsPair.await(id, ConnectionEventType.ESTABLISHED);
                    VerbsPair.await(server.id, ConnectionEventType.ESTABLISHED);
                    final ReportedAttributes reported = ReportedAttributes.of(client.queuePair);
                    assertEquals(46 << 2, reported.trafficClass());
                    assertEquals(17, reported.ackTimeout());
                    assertEquals(5, reported.retryCount());
                    assertEquals(3, reported.rnrRetryCount());
                }
            }
        }
    }

    @Test
    void shouldReportAPortThatIsTaken() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1)) {
            final VerbsException failure =
                assertThrows(VerbsException.class, () -> Listener.listen(VerbsPair.at(listener), 1));
            assertEquals(Errno.EADDRINUSE, failure.errno());
        }
    }

    @Test
    void shouldFindTheDeviceOfAnAddress() {
        assertFalse(RdmaDevices.all().isEmpty());
        assertTrue(RdmaDevices.all().contains(RdmaDevices.ofLocal(VerbsPair.address())));
    }

    /** An id with a queue pair. */
    private static final class Side implements AutoCloseable {
        private final ConnectionId id;
        private final ProtectionDomain domain;
        private final VerbsCompletionQueue queue;
        private final QueuePair queuePair;

        Side(final ConnectionId id) {
            this.id = id;
            domain = ProtectionDomain.create(id.context());
            queue = VerbsCompletionQueue.create(id.context(), "queue", 16, null);
            queuePair = id.createQueuePair(domain, QueuePairAttributes.create(queue).maxSendRequests(8).maxReceiveRequests(8));
        }

        static Side to(final Listener listener) {
            return new Side(ConnectionId.resolve(VerbsPair.at(listener), TIMEOUT_MS));
        }

        static Side of(final ConnectionId id) {
            return new Side(id);
        }

        @Override
        public void close() {
            queuePair.close();
            queue.close();
            domain.close();
            id.close();
        }
    }
}
