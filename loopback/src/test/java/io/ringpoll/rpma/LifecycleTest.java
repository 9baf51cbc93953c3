package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** The order of closing, and the exceptions if it is violated. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LifecycleTest {
    private static final CompletionFlag FLAG = CompletionFlag.ALWAYS;

    @Test
    void shouldNotCloseAPeerBeforeWhatWasMadeOfIt() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); LocalMemoryRegion region = peer.allocate(64, MemoryUsage.SEND)) {
            final IllegalStateException open = assertThrows(IllegalStateException.class, peer::close);
            assertEquals(peer.name() + " cannot be closed before its dependents: " + region.name(), open.getMessage());
            assertTrue(region.descriptor().length > 0, "the peer's refusal has closed the region");
            peer.allocate(64, MemoryUsage.SEND).close();
        }
    }

    @Test
    void shouldNotCloseAnEndpointBeforeItsRequests() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port);
            Connection client = peer.request(TestDevice.address(), port).connect()) {
            final ConnectionRequest request = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow();
            assertThrows(IllegalStateException.class, endpoint::close);
            request.close();
            assertEquals(ConnectionEvent.REJECTED, client.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
        }
    }

    @Test
    void shouldRefuseAClosedConfigurationAlsoWithoutARequest() {
        final ConnectionConfig config = ConnectionConfig.create();
        config.close();
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            Endpoint endpoint = peer.listen(TestDevice.address(), ConnectedPair.anyPort())) {
            assertThrows(IllegalStateException.class, () -> endpoint.nextRequest(config, 0));
            assertThrows(IllegalStateException.class, () -> endpoint.nextRequest(config, -1));
            assertTrue(endpoint.nextRequest(0).isEmpty(), "a request that nobody made");
        }
    }

    @Test
    void shouldNotCloseASharedReceiveQueueBeforeWhatUsesIt() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create();
            SharedReceiveQueue queue = peer.sharedReceiveQueue(queueConfig)) {
            try (ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(queue)) {
                assertEquals(queue, config.sharedReceiveQueue());
                assertThrows(IllegalStateException.class, queue::close);
                try (SharedReceiveQueue other = peer.sharedReceiveQueue(queueConfig)) {
                    assertEquals(other, config.sharedReceiveQueue(other).sharedReceiveQueue());
                    queue.close();
                    assertThrows(IllegalStateException.class, other::close);
                    config.close();
                }
            }
        }
    }

    @Test
    void shouldCloseASharedReceiveQueueThatAClosedConfigurationHasRefused() {
        final ConnectionConfig closed = ConnectionConfig.create();
        closed.close();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); SharedReceiveQueue queue = peer.sharedReceiveQueue(null)) {
            assertClosed(closed, () -> closed.sharedReceiveQueue(queue));
            queue.close();
            assertThrows(IllegalStateException.class, () -> queue.receive(null, 0, 0, 1));
        }
    }

    @Test
    void shouldNotCloseAConnectionBeforeItsVerbsQueue() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            try (VerbsCompletionQueue queue = pair.client().completionQueue().openVerbs()) {
                final IllegalStateException open = assertThrows(IllegalStateException.class, pair.client()::close);
                assertTrue(open.getMessage().contains(queue.name()), open::getMessage);
                assertEquals(0, queue.poll(new Completions().records(), 0, 1));
            }
        }
    }

    @Test
    void shouldDoNothingOnASecondClose() {
        final ConnectedPair pair = ConnectedPair.ofDefaults();
        final LocalMemoryRegion region = pair.memory(64);
        final RemoteMemoryRegion remote = pair.remote(region);
        final ConnectionConfig config = ConnectionConfig.create();
        final PeerConfig peerConfig = PeerConfig.create();
        pair.close();
        config.close();
        peerConfig.close();
        for (final NativeResource resource : new NativeResource[] {
            pair.client(), pair.server(), region, remote, config, peerConfig, pair.peer()}) {
            assertTrue(resource.isClosed(), resource::name);
            resource.close();
        }
    }

    @Test
    void shouldReportAClosedConnectionAtEveryUse() {
        final ConnectedPair pair = ConnectedPair.ofDefaults();
        final LocalMemoryRegion region = pair.memory(64);
        final RemoteMemoryRegion remote = pair.remote(region);
        final Connection connection = pair.client();
        connection.close();
        try (PeerConfig config = PeerConfig.create()) {
            assertClosed(connection, () -> connection.send(region, 0, 8, FLAG, 1));
            assertClosed(connection, () -> connection.sendWithImmediate(region, 0, 8, FLAG, 1, 1));
            assertClosed(connection, () -> connection.receive(region, 0, 8, 1));
            assertClosed(connection, () -> connection.write(remote, 0, region, 0, 8, FLAG, 1));
            assertClosed(connection, () -> connection.writeWithImmediate(remote, 0, region, 0, 8, FLAG, 1, 1));
            assertClosed(connection, () -> connection.atomicWrite(remote, 0, 1, FLAG, 1));
            assertClosed(connection, () -> connection.read(region, 0, remote, 0, 8, FLAG, 1));
            assertClosed(connection, () -> connection.flush(remote, 0, 8, FlushType.VISIBILITY, FLAG, 1));
            assertClosed(connection, () -> connection.nextEvent(0));
            assertClosed(connection, () -> connection.awaitCompletions(0));
            assertClosed(connection, connection::completionFd);
            assertClosed(connection, connection::disconnect);
            assertClosed(connection, connection::privateData);
            assertClosed(connection, () -> connection.applyRemotePeerConfig(config));
        }
        final RpmaCompletionQueue queue = connection.completionQueue();
        assertEquals(RpmaError.INVAL, queue.poll(new Completions().records(), 0, 1));
        assertEquals(RpmaError.INVAL, queue.getCompletion(new LegacyCompletion()));
        assertThrows(IllegalStateException.class, () -> queue.await(0));
        assertThrows(IllegalStateException.class, queue::openVerbs);
        pair.close();
    }

    @Test
    void shouldReportAClosedRegionAtEveryUse() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection connection = pair.client();
            final LocalMemoryRegion region = pair.memory(64);
            final RemoteMemoryRegion remote = pair.remote(region);
            final LocalMemoryRegion open = pair.memory(64);
            region.close();
            assertClosed(region, () -> connection.send(region, 0, 8, FLAG, 1));
            assertClosed(region, () -> connection.receive(region, 0, 8, 1));
            assertClosed(region, region::descriptor);
            assertClosed(region, region::lengthBytes);
            assertClosed(region, region::memoryAddress);
            assertClosed(region, () -> region.advise(0, 8, MemoryAdvice.PREFETCH, false));
            assertThrows(IllegalStateException.class, () -> region.memory().fill((byte) 0), "its memory is freed");
            remote.close();
            assertClosed(remote, () -> connection.write(remote, 0, open, 0, 8, FLAG, 1));
            assertClosed(remote, remote::flushTypes);
        }
    }

    @Test
    void shouldReportAnyOtherClosedObjectAtEveryUse() {
        final Peer peer = Peer.ofLocal(TestDevice.address());
        final Endpoint endpoint = peer.listen(TestDevice.address(), ConnectedPair.anyPort());
        final SharedReceiveQueue queue = peer.sharedReceiveQueue(null);
        final ConnectionConfig config = ConnectionConfig.create();
        final SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create();
        final PeerConfig peerConfig = PeerConfig.create();
        queue.close();
        endpoint.close();
        peer.close();
        config.close();
        queueConfig.close();
        peerConfig.close();
        assertClosed(endpoint, () -> endpoint.nextRequest(0));
        assertClosed(queue, () -> queue.receive(null, 0, 0, 1));
        assertClosed(config, config::timeoutMs);
        assertClosed(config, () -> config.cqSize(1));
        assertClosed(queueConfig, queueConfig::rqSize);
        assertClosed(peerConfig, peerConfig::descriptor);
        assertClosed(peer, peer::isOdpCapable);
        assertClosed(peer, () -> peer.allocate(8, MemoryUsage.SEND));
        assertClosed(peer, () -> peer.listen(TestDevice.address(), "0"));
        assertClosed(peer, () -> peer.request(TestDevice.address(), "1"));
        assertClosed(peer, () -> peer.sharedReceiveQueue(null));
    }

    @Test
    void shouldEndARequestThatWasConnected() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            assertTrue(endpoint.fd() >= 0);
            final ConnectionRequest request = peer.request(TestDevice.address(), port);
            request.connect().close();
            assertClosed(request, request::connect);
            assertClosed(request, request::privateData);
            request.close();
        }
    }

    @Test
    void shouldKeepARequestWhosePrivateDataIsTooLong() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port);
            ConnectionRequest request = peer.request(TestDevice.address(), port)) {
            assertTrue(endpoint.fd() >= 0);
            assertThrows(IllegalArgumentException.class, () -> request.connect(new byte[256]));
            assertEquals(0, request.privateData().length);
        }
    }

    @Test
    void shouldReportTheLimitOfPrivateDataThatTheDeviceAccepts() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            assertTrue(endpoint.fd() >= 0);
            final ConnectionRequest request = peer.request(TestDevice.address(), port);
            final String message = assertThrows(RpmaException.class, () -> request.connect(new byte[57])).getMessage();
            assertTrue(message.startsWith("rpma_conn_req_connect failed: RPMA_E_PROVIDER"), message);
            assertTrue(message.endsWith("; 57 bytes of private data may be too many: InfiniBand and RoCE carry 56 with a " +
                "request and 196 with an answer; send more as a message"), message);
        }
    }

    @Test
    void shouldRegisterNoMemoryThatCannotBe() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Arena arena = Arena.ofShared()) {
            final MemoryUsage usage = MemoryUsage.SEND;
            assertThrows(IllegalArgumentException.class, () -> peer.register(MemorySegment.ofArray(new byte[8]), usage));
            assertThrows(IllegalArgumentException.class, () -> peer.register(arena.allocate(8).asReadOnly(), usage));
            assertThrows(IllegalArgumentException.class, () -> peer.register(arena.allocate(0), usage));
            assertThrows(IllegalArgumentException.class, () -> peer.register(arena.allocate(8)));
            try (LocalMemoryRegion region = peer.register(arena.allocate(100), usage)) {
                assertEquals(100, region.lengthBytes());
                assertEquals(region.memory().address(), region.memoryAddress());
            }
        }
    }

    private static void assertClosed(final NativeResource resource, final Executable use) {
        assertEquals(resource.name() + " is closed", assertThrows(IllegalStateException.class, use).getMessage());
    }
}
