package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.LoopbackCases;
import io.ringpoll.testing.TestDevice;
import java.net.ConnectException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers with which a set wants no connection. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(TestDevice.TAG)
@ParameterizedClass
@EnumSource(names = {"RPMA", "VERBS"})
@LoopbackCases("SHARED_QUEUE")
class AdmissionTest {
    private final SetKind kind;
    private final List<String> data = new CopyOnWriteArrayList<>();
    private final Recorder server = new Recorder() {
        @Override
        public void onConnected(final MessageConnection connection) {
            super.onConnected(connection);
            data.add(new String(connection.peerData()));
        }
    };
    private final Recorder client = new Recorder();

    AdmissionTest(final SetKind kind) {
        this.kind = kind;
    }

    private ConnectionSetBuilder servers() {
        return SetPair.builder(kind).listener(server);
    }

    private ConnectionSetBuilder clients() {
        return SetPair.builder(kind).listener(client);
    }

    @Test
    void shouldRejectWhatTheFilterDoesNotAccept() throws Exception {
        final List<String> asked = new CopyOnWriteArrayList<>();
        try (ConnectionSet set = servers().acceptFilter((address, bytes) -> {
            final String text = new String(bytes);
            asked.add(address.isPresent() + " " + text);
            Arrays.fill(bytes, (byte) 0);
            return "friend".equals(text);
        }).start(); ConnectionSet strangers = clients().start(); ConnectionSet friends =
            clients().privateData("friend".getBytes()).start()) {
            final int port = set.listen(0);
            assertThrows(ConnectException.class, () -> strangers.connect(TestDevice.address(), port));
            assertTrue(friends.connect(TestDevice.address(), port).isConnected());
            assertEquals(1, set.connections());
            assertEquals(1, set.rejectedRequests());
        }
        assertEquals(List.of("true ", "true friend"), asked);
        assertEquals(List.of("friend"), data, "the filter has its own copy");
        assertEquals(List.of("connected", "disconnected PEER_CLOSED"), server.all);
    }

    @Test
    void shouldRejectARequestWhoseFilterThrows() throws Exception {
        final List<Throwable> errors = new CopyOnWriteArrayList<>();
        try (ConnectionSet set = servers().errorHandler(errors::add).acceptFilter((address, bytes) -> {
            throw new AssertionError("thrown by the filter");
        }).start(); ConnectionSet clients = clients().start()) {
            final int port = set.listen(0);
            assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), port));
            assertEquals(1, set.rejectedRequests());
            assertEquals(1, set.listenerExceptions());
        }
        assertEquals("thrown by the filter", errors.getFirst().getMessage());
        assertEquals(1, errors.size());
    }

    /** All events of the set wait for the filter, so that such a wait would have no end. */
    @Test
    void shouldRefuseToWaitInTheFilter() throws Exception {
        final AtomicReference<ConnectionSet> own = new AtomicReference<>();
        final List<String> refused = new CopyOnWriteArrayList<>();
        try (ConnectionSet set = servers().acceptFilter((address, data) -> {
            refused.add(assertThrows(IllegalStateException.class, own.get()::awaitClose).getMessage());
            refused.add(assertThrows(IllegalStateException.class, () -> own.get().connect(TestDevice.address(), 1)).getMessage());
            return true;
        }).start(); ConnectionSet clients = clients().start()) {
            own.set(set);
            final int port = set.listen(0);
            assertTrue(clients.connect(TestDevice.address(), port).isConnected());
            assertEquals(List.of("a callback cannot wait for the close of " + set.name() + ", which waits for it",
                "a callback cannot wait for a connection: connect on another thread"), refused);
            assertEquals(0, set.listenerExceptions());
        }
    }

    @Test
    void shouldCloseTheSetInTheFilter() throws Exception {
        final AtomicReference<ConnectionSet> own = new AtomicReference<>();
        final List<Boolean> closed = new CopyOnWriteArrayList<>();
        try (ConnectionSet set = servers().acceptFilter((address, data) -> {
            if (data.length > 0) {
                closed.add(own.get().close(SetPair.TEN_SECONDS));
            }
            return true;
        }).start(); ConnectionSet first = clients().start();
            ConnectionSet second = SetPair.builder(kind).listener(new Recorder()).privateData(new byte[1]).start()) {
            own.set(set);
            final int port = set.listen(0);
            first.connect(TestDevice.address(), port);
            final long beginNs = System.nanoTime();
            assertThrows(ConnectException.class, () -> second.connect(TestDevice.address(), port));
            set.awaitClose();
            assertTrue(System.nanoTime() - beginNs < SetPair.TEN_SECONDS, "the close has waited for the filter");
            assertEquals(List.of(false), closed);
            // In order: the peer got a goodbye.
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
        }
        assertEquals(List.of("connected", "disconnected CLOSED"), server.all);
    }

    /** In milliseconds it is more than the device takes. */
    @Test
    void shouldAcceptRequestsWithALongTimeOut() throws Exception {
        for (final long timeoutNs : new long[] {TimeUnit.DAYS.toNanos(30), Long.MAX_VALUE}) {
            try (ConnectionSet set = servers().acceptTimeoutNs(timeoutNs).start(); ConnectionSet clients = clients().start()) {
                assertTrue(clients.connect(TestDevice.address(), set.listen(0)).isConnected());
                assertEquals(0, set.rejectedRequests());
            }
        }
    }

    @Test
    void shouldRejectARequestOfAPeerWithShorterMessages() throws Exception {
        try (ConnectionSet set = servers().minMessageBytes(200).start();
            ConnectionSet shorter = clients().maxMessageBytes(199).start();
            ConnectionSet sufficient = clients().maxMessageBytes(200).start()) {
            final int port = set.listen(0);
            assertThrows(ConnectException.class, () -> shorter.connect(TestDevice.address(), port));
            assertEquals(1, set.rejectedRequests());
            assertEquals(200, sufficient.connect(TestDevice.address(), port).maxMessageBytes());
        }
    }

    @Test
    void shouldNotConnectToAPeerWithShorterMessages() throws Exception {
        try (ConnectionSet set = servers().maxMessageBytes(199).start();
            ConnectionSet clients = clients().minMessageBytes(200).start()) {
            final int port = set.listen(0);
            final String message =
                assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), port)).getMessage();
            assertTrue(message.contains("a peer with messages of at most 199 bytes, below minMessageBytes of 200"), message);
        }
        assertEquals(List.of(), client.all);
    }

    @Test
    void shouldRefuseALeastLengthThatItsOwnSideDoesNotHave() {
        for (final int bytes : new int[] {-1, 0, 257}) {
            assertEquals("minMessageBytes is " + bytes + ": use 1 to maxMessageBytes, 256",
                assertThrows(IllegalArgumentException.class, clients().minMessageBytes(bytes)::start).getMessage());
        }
        assertEquals("the time of silence before a keepalive is negative",
            assertThrows(IllegalArgumentException.class, clients().keepaliveNs(-1)::start).getMessage());
    }
}
