package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections begin and end once, for each reason of an end. */
@Timeout(60)
@Tag(TestDevice.TAG)
class LifeCycleTest {
    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    @Test
    void shouldDeliverAllMessagesThatWereSentBeforeTheClose() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> {
                for (int i = 0; i < 5; i++) {
                    send(connection, "m" + i);
                }
                connection.close();
                assertFalse(connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1));
                assertEquals(MessageConnection.NOT_CONNECTED, connection.tryClaim(1));
            });
            assertEquals("disconnected CLOSED", client.await("disconnected"));
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
            assertFalse(connection.isConnected());
        }
        assertEquals(List.of("connected", "message m0", "message m1", "message m2", "message m3", "message m4",
            "disconnected PEER_CLOSED"), server.all);
        assertEquals(List.of("connected", "disconnected CLOSED"), client.all);
    }

    @Test
    void shouldDeliverAllMessagesOfAPeerThatVanishes() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start()) {
            try (RawClient raw = new RawClient(set.listen(0), RawClient.HELLO.encode())) {
                raw.send(1, 0);
                raw.send(1, 0);
                server.await("message");
                server.await("message");
            }
            assertEquals("disconnected PEER_LOST", server.await("disconnected"));
            assertEquals(4, server.all.size());
        }
    }

    @Test
    void shouldEndAllConnectionsWhenTheSetIsClosed() throws Exception {
        final SetPair pair = SetPair.of(builder -> builder.pollers(2), server, client);
        try (pair) {
            for (int i = 0; i < 6; i++) {
                pair.connect();
                // Until then the server closes it without a goodbye.
                server.await("connected");
            }
            assertEquals(6, pair.server().connections());
            assertTrue(pair.server().close(SetPair.TEN_SECONDS));
            assertEquals(0, pair.server().connections());
            for (int i = 0; i < 6; i++) {
                assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
            }
        }
        assertEquals(6, server.all.stream().filter("disconnected CLOSED"::equals).count());
        assertEquals(12, server.all.size());
        assertEquals(12, client.all.size());
        assertThrows(IllegalStateException.class, pair::connect);
        assertThrows(IllegalStateException.class, () -> pair.server().listen(0));
    }

    @Test
    void shouldRejectRequestsOverTheMaximum() throws Exception {
        try (ConnectionSet set = SetPair.builder().maxConnections(1).listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).start()) {
            final int port = set.listen(0);
            final MessageConnection first = clients.connect(TestDevice.address(), port);
            assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), port));
            assertEquals(1, set.rejectedRequests());
            first.close();
            server.await("disconnected");
            client.await("disconnected");
            clients.connect(TestDevice.address(), port);
        }
        assertEquals(List.of("connected", "disconnected CLOSED", "connected", "disconnected CLOSED"), client.all);
    }

    @Test
    void shouldNotRequestMoreConnectionsThanTheMaximum() throws Exception {
        try (SetPair pair = SetPair.of(builder -> builder.maxConnections(1), server, client)) {
            pair.connect();
            final String message = assertThrows(IllegalStateException.class, pair::connect).getMessage();
            assertTrue(message.contains("maximum of 1 connections"), message);
        }
    }

    @Test
    void shouldReportThatNobodyListens() {
        try (ConnectionSet clients = SetPair.builder().listener(client).start()) {
            final String message =
                assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), 19_999)).getMessage();
            assertEquals(TestDevice.isLoopback(),
                message.endsWith("; the loopback device connects processes of one user on one machine"), message);
            assertEquals(0, clients.connections());
        }
        assertTrue(client.all.isEmpty());
    }

    @Test
    void shouldGiveUpWhenTheServerDoesNotAnswer() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), "0");
            ConnectionSet clients = SetPair.builder().listener(client).start()) {
            assertThrows(ConnectException.class,
                () -> clients.connect(TestDevice.address(), silent.port(), TimeUnit.MILLISECONDS.toNanos(200)));
            assertTrue(clients.close(SetPair.TEN_SECONDS));
        }
        assertTrue(client.all.isEmpty());
    }

    @Test
    void shouldCloseFromACallback() throws Exception {
        final ConnectionListener closing = new Recorder() {
            @Override
            public void onConnected(final MessageConnection connection) {
                connection.close();
            }

            @Override
            public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
                server.onDisconnected(connection, reason);
            }
        };
        try (SetPair pair = SetPair.of(builder -> { }, closing, client)) {
            pair.connect();
            assertEquals("disconnected CLOSED", server.await("disconnected"));
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
        }
    }

    @Test
    void shouldCloseTheSetFromACallback() throws Exception {
        final AtomicReference<ConnectionSet> set = new AtomicReference<>();
        final Recorder closing = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                assertFalse(set.get().close(SetPair.TEN_SECONDS));
                return true;
            }
        };
        try (SetPair pair = SetPair.of(builder -> { }, closing, client)) {
            set.set(pair.server());
            final MessageConnection connection = pair.connect();
            connection.execute(() -> send(connection, "end"));
            pair.server().awaitClose();
            assertEquals("disconnected CLOSED", closing.await("disconnected"));
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
            assertTrue(pair.server().close(SetPair.TEN_SECONDS));
        }
    }

    @Test
    void shouldNotReleaseWhatACallbackUses() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch left = new CountDownLatch(1);
        final Recorder slow = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                entered.countDown();
                boolean isOver = false;
                while (!isOver) {
                    try {
                        isOver = left.await(1, TimeUnit.MINUTES);
                    } catch (final InterruptedException again) {
                        // The test ends it.
                    }
                }
                add("read " + buffer.getByte(offset));
                return true;
            }
        };
        try (SetPair pair = SetPair.of(builder -> { }, slow, client)) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> send(connection, "x"));
            entered.await();
            assertFalse(pair.server().close(TimeUnit.MILLISECONDS.toNanos(300)));
            left.countDown();
            assertEquals("read 120", slow.await("read"));
        }
    }

    @Test
    void shouldNotNoticeChangesOfTheBuilderAfterTheStart() throws Exception {
        final Recorder later = new Recorder();
        final ConnectionSetBuilder builder = SetPair.builder().listener(server).maxConnections(1);
        try (ConnectionSet set = builder.start(); ConnectionSet clients = SetPair.builder().listener(client).start()) {
            builder.name("other").address("192.0.2.1").listener(later).maxConnections(2).acceptTimeoutNs(1).connectTimeoutNs(1);
            final int port = set.listen(0);
            clients.connect(TestDevice.address(), port);
            assertEquals("connected", server.await("connected"));
            assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), port));
            assertEquals(1, set.connections());
        }
        assertEquals(List.of(), later.all);
    }

    @Test
    void shouldContinueAfterAnExceptionOfTheListener() throws Exception {
        final List<Throwable> errors = new CopyOnWriteArrayList<>();
        final Recorder throwing = new Recorder() {
            @Override
            public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
                final int length) throws Exception {
                super.onMessage(connection, buffer, offset, length);
                throw new IOException("thrown by the listener");
            }
        };
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(2).errorHandler(errors::add), throwing, client)) {
            final MessageConnection connection = pair.connect();
            for (int i = 0; i < 20; i++) {
                final int number = i;
                while (true) {
                    final AtomicReference<Boolean> sent = new AtomicReference<>();
                    connection.execute(() -> sent.set(trySend(connection, "m" + number)));
                    while (sent.get() == null) {
                        assertFalse(Thread.currentThread().isInterrupted(), "time-out");
                    }
                    if (sent.get()) {
                        break;
                    }
                    assertFalse(Thread.currentThread().isInterrupted(), "no credit");
                }
                assertEquals("message m" + i, throwing.await("message"));
            }
        }
        assertEquals(20, errors.size());
    }

    @Test
    void shouldLogTheFirstExceptionOfEachKindWithItsStack() throws Exception {
        final Runnable first = () -> {
            throw new IllegalStateException("the first kind");
        };
        final Runnable second = () -> {
            throw new IllegalStateException("the second kind");
        };
        try (LogCapture log = new LogCapture(ConnectionSet.class.getName());
            SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            for (int i = 0; i < 20; i++) {
                assertTrue(connection.execute(i % 2 == 0 ? first : second));
            }
            while (pair.client().listenerExceptions() < 20) {
                assertFalse(Thread.currentThread().isInterrupted(), "time-out");
            }
            final List<String> warnings = log.messages();
            assertEquals(2, warnings.size(), warnings::toString);
            for (final String warning : warnings) {
                assertTrue(warning.endsWith(": a callback has thrown; more of this kind are only counted"), warning);
            }
            assertEquals(List.of("the first kind", "the second kind"),
                log.exceptions().stream().map(Throwable::getMessage).toList());
        }
    }

    @Test
    void shouldWarnOfRejectedRequestsMoreAndMoreSeldom() throws Exception {
        try (LogCapture log = new LogCapture(ConnectionSet.class.getName());
            ConnectionSet set = SetPair.builder().maxConnections(1).listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).start()) {
            final int port = set.listen(0);
            clients.connect(TestDevice.address(), port);
            for (int i = 0; i < 5; i++) {
                assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), port));
            }
            final List<String> levels = log.messages().stream()
                .filter(line -> line.contains(" has its maximum of 1 connections")).map(line -> line.split(" ")[0]).toList();
            assertEquals(List.of("WARNING", "WARNING", "FINE", "WARNING", "FINE"), levels, log.messages()::toString);
            assertTrue(log.messages().getFirst().contains(": rejected a request (1 so far): "), log.messages()::toString);
        }
    }

    @Test
    void shouldWarnOfAPeerThatDoesNotTakeItsConnectionInTime() throws Exception {
        try (LogCapture log = new LogCapture(ConnectionSet.class.getName());
            ConnectionSet set =
                SetPair.builder().acceptTimeoutNs(TimeUnit.MILLISECONDS.toNanos(300)).listener(server).start()) {
            final int port = set.listen(0);
            try (RawClient raw = new RawClient(port, RawClient.HELLO.encode(), false)) {
                while (set.connections() == 0) {
                    assertFalse(Thread.currentThread().isInterrupted(), "time-out");
                }
                assertTrue(log.await(line -> line.startsWith("WARNING") && line.endsWith("but not established in time")),
                    log.messages()::toString);
                assertEquals(1, set.rejectedRequests());
                while (set.connections() > 0) {
                    assertFalse(Thread.currentThread().isInterrupted(), "time-out");
                }
            }
        }
        assertEquals(List.of(), server.all);
    }

    @Test
    void shouldRefuseOtherThreads() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            final String message = assertThrows(IllegalStateException.class,
                () -> connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1)).getMessage();
            assertTrue(message.contains(Thread.currentThread().getName()), message);
            assertTrue(message.contains(pair.client().pipelines().getFirst().pollerThread().getName()), message);
            assertThrows(IllegalStateException.class, connection::resume);
            assertThrows(IllegalStateException.class, connection::retain);
            assertThrows(IllegalStateException.class, () -> connection.commit(0));
            assertThrows(IllegalStateException.class, connection::credits);
            assertThrows(IllegalStateException.class, connection.newTimer(() -> { })::isScheduled);
        }
    }

    @Test
    void shouldCarryPrivateDataAndAttachments() throws Exception {
        final Recorder recorder = new Recorder() {
            @Override
            public void onConnected(final MessageConnection connection) {
                add("greeted by " + new String(connection.peerData()));
                assertNull(connection.attachment());
                connection.attach("session");
            }

            @Override
            public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
                add("left " + connection.attachment());
            }
        };
        try (ConnectionSet set = SetPair.builder().privateData("server".getBytes()).listener(recorder).start();
            ConnectionSet clients = SetPair.builder().privateData("client".getBytes()).listener(client).start()) {
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0));
            assertEquals("server", new String(connection.peerData()));
            assertEquals("greeted by client", recorder.await("greeted"));
            connection.close();
            assertEquals("left session", recorder.await("left"));
        }
    }

    private static boolean trySend(final MessageConnection connection, final String text) {
        final UnsafeBuffer message = new UnsafeBuffer(text.getBytes());
        return connection.trySend(message, 0, message.capacity());
    }

    private static void send(final MessageConnection connection, final String text) {
        assertTrue(trySend(connection, text));
    }
}
