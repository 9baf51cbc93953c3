package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.DefectiveConnection;
import io.ringpoll.internal.rc.DefectiveRequest;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The creation of a connection fails after its queue pair has got receives: the device may write to them until it is closed. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AbandonedConnectionTest {
    private final List<DefectiveConnection> connections = new ArrayList<>();
    private Nodes nodes;
    private Node client;
    private int port;

    private void open(final RdmaApi api) throws IOException {
        nodes = new Nodes(api);
        port = nodes.server(Nodes::echo).port();
        client = nodes.client();
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    /** A request whose connection has no queue. */
    private DefectiveRequest request(final int closesRefused) {
        return new DefectiveRequest(client.peer().request(TestDevice.address(), port, client.config().connectionConfig()),
            connected -> {
                final DefectiveConnection connection = new DefectiveConnection(connected);
                connection.refuseCloses(closesRefused);
                connection.failQueue(new IllegalStateException("on purpose"));
                connections.add(connection);
                return connection;
            });
    }

    /** Fails to create a connection, and returns the memory of its receives. */
    private RcMemory attach(final DefectiveRequest request, final String message) {
        final IllegalStateException failure = assertThrows(IllegalStateException.class,
            () -> client.attach("peer", request, Handshake.requesting(client.config()), null));
        assertEquals(message, failure.getMessage());
        return request.receives();
    }

    private RcMemory attachOne() {
        return attach(request(0), "on purpose");
    }

    /** Closes that are tried again are called in their order. */
    private void awaitCloses() throws InterruptedException {
        final CountDownLatch tried = new CountDownLatch(1);
        client.keeper().closeLater(() -> {
            tried.countDown();
            return true;
        });
        assertTrue(tried.await(20, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepTheBuffersOfAConnectionUntilItIsClosed(final RdmaApi api) throws Exception {
        open(api);
        final RcMemory kept = attach(request(Integer.MAX_VALUE), "on purpose");
        final RcMemory other = attachOne();
        assertNotSame(kept, other);
        assertSame(other, attachOne());
        assertFalse(connections.getFirst().isClosed());
        connections.getFirst().refuseCloses(0);
        awaitCloses();
        assertSame(kept, attachOne());
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepTheBuffersOfARequestUntilItIsClosed(final RdmaApi api) throws Exception {
        open(api);
        final DefectiveRequest request = request(0);
        request.refuseReceives();
        request.refuseCloses(true);
        final String full = "the receive queue has no room for " + client.config().buffers().receives() + " receives";
        final RcMemory kept = attach(request, full);
        assertNotSame(kept, attachOne());
        assertFalse(request.isClosed());
        request.refuseCloses(false);
        awaitCloses();
        assertSame(kept, attachOne());
    }

    /** A repeated one would give its buffers back again, to two connections. */
    @Test
    void shouldNotRepeatACloseIfTheNextOneThrows() throws Exception {
        open(RdmaApi.RPMA);
        final AtomicInteger closes = new AtomicInteger();
        final AtomicBoolean thrown = new AtomicBoolean();
        client.keeper().closeLater(() -> closes.incrementAndGet() > 0);
        client.keeper().closeLater(() -> {
            if (thrown.compareAndSet(false, true)) {
                throw new AssertionError("on purpose");
            }
            return true;
        });
        awaitCloses();
        assertTrue(thrown.get());
        assertEquals(1, closes.get());
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheConnectionAtTheLatestWithItsNode(final RdmaApi api) throws Exception {
        open(api);
        attach(request(5), "on purpose");
        client.close();
        assertEquals(List.of(true), connections.stream().map(DefectiveConnection::isClosed).toList());
    }
}
