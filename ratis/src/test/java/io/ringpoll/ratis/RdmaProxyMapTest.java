package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaProxyMapTest {
    private static final long DISCARDING_NS = TimeUnit.SECONDS.toNanos(3);

    private final RaftProperties properties = new RaftProperties();
    private RaftPeer peer;
    private Node server;
    private Node client;

    @BeforeEach
    void open() throws IOException {
        properties.setTimeDuration(RdmaConfigKeys.RECONNECT_DELAY_MAX_KEY, TimeDuration.valueOf(10, TimeUnit.MILLISECONDS));
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        peer = RaftPeer.newBuilder().setId("s1").setAddress(TestDevice.address() + ":" + port).build();
        server = node("proxy-map-server");
        server.listen(TestDevice.address(), port);
        client = node("proxy-map-client");
    }

    private Node node(final String name) {
        return new Node(RdmaConfig.nodeConfig(properties, name, false), RdmaApi.RPMA.ofLocal(TestDevice.address()),
            (type, request) -> new CompletableFuture<MessageLite>(), new TransportCounters());
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void shouldReconnectAfterAnUnexpectedFailure() throws Exception {
        final Queue<Throwable> failures = new ArrayDeque<>(List.of(new IllegalStateException("for once"),
            new InternalError("on purpose"), new UnknownHostException("on purpose")));
        final RdmaProxyMap map = new RdmaProxyMap("test", properties, address -> {
            switch (failures.poll()) {
                case final RuntimeException failure -> throw failure;
                case final Error failure -> throw failure;
                case final IOException failure -> throw failure;
                case null, default -> {
                    return client;
                }
            }
        });
        map.addRaftPeers(List.of(peer));
        while (!failures.isEmpty()) {
            final int before = failures.size();
            final IOException failure = assertThrows(IOException.class, () -> map.getProxy(peer.getId()));
            assertTrue(before - 1 == failures.size() || failure.getMessage().contains("the next connect"), failure.getMessage());
        }
        for (RdmaProxy proxy = null; proxy == null || !proxy.isOpen();) {
            try {
                proxy = map.getProxy(peer.getId());
            } catch (final IOException e) {
                assertTrue(e.getMessage().contains("the next connect"), e.getMessage());
            }
        }
        map.close();
    }

    @Test
    void shouldConnectAtOnceAfterAnInterruptedConnect() throws Exception {
        RdmaConfigKeys.setReconnectDelayMin(properties, TimeDuration.valueOf(1, TimeUnit.HOURS));
        RdmaConfigKeys.setReconnectDelayMax(properties, TimeDuration.valueOf(1, TimeUnit.HOURS));
        final RdmaProxyMap map = new RdmaProxyMap("test", properties, address -> client);
        map.addRaftPeers(List.of(peer));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, () -> map.getProxy(peer.getId()));
        assertTrue(Thread.interrupted());
        assertTrue(map.getProxy(peer.getId()).isOpen());
        map.close();
    }

    @Test
    void shouldLetTheEngineRetryIfTheConnectionIsDiscardedMeanwhile() throws Exception {
        final ConnectException discarded =
            assertThrows(ConnectException.class, () -> RdmaProxyMap.present(null, peer.getId()));
        assertTrue(IOUtils.shouldReconnect(discarded));
        final RdmaProxyMap map = new RdmaProxyMap("test", properties, address -> client);
        map.addRaftPeers(List.of(peer));
        final RdmaProxy proxy = map.getProxy(peer.getId());
        assertSame(proxy, RdmaProxyMap.present(proxy, peer.getId()));
        map.close();
    }

    /** Until Ratis 3.2.0 the engine's map returns null in the middle of a discard. */
    @Test
    void shouldReturnAConnectionOrFailWhileAnotherThreadDiscardsIt() throws Exception {
        final RdmaProxyMap map = new RdmaProxyMap("test", properties, address -> client);
        map.addRaftPeers(List.of(peer));
        final AtomicInteger discarded = new AtomicInteger();
        final AtomicBoolean done = new AtomicBoolean();
        final Thread discarding = Thread.ofPlatform().daemon().start(() -> {
            while (!done.get()) {
                if (map.isConnected(peer.getId())) {
                    map.handleException(peer.getId(), new AlreadyClosedException("on purpose"), true);
                    discarded.incrementAndGet();
                }
                // At once after the connect: the engine's map reads the field again before it returns.
                Thread.onSpinWait();
            }
        });
        final long startNs = System.nanoTime();
        while (discarded.get() == 0 || System.nanoTime() - startNs < DISCARDING_NS) {
            try {
                assertNotNull(map.getProxy(peer.getId()), () -> "null after " + discarded + " discarded connections");
            } catch (final IOException e) {
                // The connection has just ended, or the next connect must wait.
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
        done.set(true);
        assertTrue(discarding.join(Duration.ofSeconds(30)));
        map.close();
    }

    @Test
    void shouldReplaceOnlyAFailedConnection() throws Exception {
        final RdmaProxyMap map = new RdmaProxyMap("test", properties, address -> client);
        map.addRaftPeers(List.of(peer));
        final RdmaProxy first = map.getProxy(peer.getId());
        first.close();
        assertTrue(map.handleException(peer.getId(), new AlreadyClosedException("gone"), false));
        final RdmaProxy second = map.getProxy(peer.getId());
        assertNotSame(first, second);
        // Another thread observes the end of the first connection late.
        assertTrue(map.handleException(peer.getId(), new AlreadyClosedException("gone"), false));
        assertSame(second, map.getProxy(peer.getId()));
        assertTrue(second.isOpen());
        assertFalse(map.handleException(peer.getId(), new IOException("no matter of the connection"), false));
        map.close();
    }

    @Test
    void shouldKeepTheConnectionToAPeerThatIsSilentForTheRequestTimeOut() throws Exception {
        final RdmaProxyMap map = new RdmaProxyMap("test", properties, address -> client);
        map.addRaftPeers(List.of(peer));
        final RdmaProxy proxy = map.getProxy(peer.getId());
        final TimeoutIOException failure = assertThrows(TimeoutIOException.class, () -> proxy.send(MessageType.REQUEST_VOTE,
            RequestVoteRequestProto.getDefaultInstance(),
            TimeDuration.valueOf(50, TimeUnit.MILLISECONDS)));
        assertTrue(proxy.isOpen());
        // The engine counts a time-out as a reason to reconnect since 3.2.1.
        assertEquals(IOUtils.shouldReconnect(failure), map.handleException(peer.getId(), failure, false));
        final RdmaProxy second = map.getProxy(peer.getId());
        assertSame(proxy, second);
        final CompletableFuture<MessageLite> reply = second.sendAsync(MessageType.REQUEST_VOTE,
            RequestVoteRequestProto.getDefaultInstance(), TimeDuration.valueOf(50, TimeUnit.MILLISECONDS));
        assertInstanceOf(TimeoutException.class,
            assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause());
        assertTrue(second.isOpen());
        map.close();
    }
}
