package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.LoopbackCases;
import io.ringpoll.testing.TestDevice;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Credits: a message is sent only if the peer has a receive for it, and waits in order otherwise. */
@Timeout(60)
@Tag(TestDevice.TAG)
@ParameterizedClass
@EnumSource(names = {"RPMA", "SHARED_QUEUE"})
@LoopbackCases("VERBS")
class BackPressureTest {
    private static final int WINDOW = 4;

    private final SetKind kind;
    private final Recorder client = new Recorder();

    BackPressureTest(final SetKind kind) {
        this.kind = kind;
    }

    /** Retains each message until the test releases it. */
    private static final class Retainer extends Recorder {
        private final ConcurrentLinkedQueue<Long> retained = new ConcurrentLinkedQueue<>();
        private final CompletableFuture<MessageConnection> connection = new CompletableFuture<>();

        @Override
        public void onConnected(final MessageConnection accepted) {
            connection.complete(accepted);
        }

        @Override
        public boolean onMessage(final MessageConnection accepted, final DirectBuffer buffer, final int offset, final int length)
            throws Exception {
            retained.add(accepted.retain());
            assertThrows(IllegalStateException.class, accepted::retain);
            return super.onMessage(accepted, buffer, offset, length);
        }
    }

    @Test
    void shouldSendNoMoreThanTheWindow() throws Exception {
        final Retainer server = new Retainer();
        try (SetPair pair = SetPair.of(kind, builder -> builder.messagesInFlight(WINDOW), server, client)) {
            final MessageConnection connection = pair.connect();
            assertEquals(WINDOW, sendUntilRefused(connection));
            for (int i = 0; i < WINDOW; i++) {
                server.await("message");
            }
            final MessageConnection accepted = server.connection.join();
            final long first = server.retained.remove();
            call(accepted, () -> {
                accepted.release(first);
                assertThrows(IllegalStateException.class, () -> accepted.release(first));
                assertThrows(IllegalStateException.class, () -> accepted.release(-1));
            });
            client.await("drained");
            assertEquals(1, sendUntilRefused(connection));
            server.await("message");
            call(accepted, () -> {
                while (!server.retained.isEmpty()) {
                    accepted.release(server.retained.remove());
                }
            });
            // One credit at first, then more at a time.
            int sent = 0;
            while (sent < WINDOW) {
                client.await("drained");
                sent += sendUntilRefused(connection);
            }
            assertEquals(WINDOW, sent);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    @LoopbackCases({"2", "3", "17"})
    void shouldReturnTheLastCreditsWhileOthersAreRetained(final int window) throws Exception {
        final Retainer server = new Retainer();
        try (SetPair pair = SetPair.of(kind, builder -> builder.messagesInFlight(window), server, client)) {
            final MessageConnection connection = pair.connect();
            sendUntilRefused(connection);
            for (int i = 0; i < window; i++) {
                server.await("message");
            }
            final MessageConnection accepted = server.connection.join();
            // Each single release permits a message, also if all the others stay retained.
            for (int i = 0; i < 3 * window; i++) {
                call(accepted, () -> accepted.release(server.retained.remove()));
                client.await("drained");
                assertEquals(1, sendUntilRefused(connection));
                server.await("message");
            }
        }
    }

    @Test
    void shouldReleaseRetainedMessagesAfterTheEnd() throws Exception {
        final Retainer server = new Retainer();
        final MessageConnection accepted;
        try (ConnectionSet clients = SetPair.builder(kind).listener(client).start()) {
            final ConnectionSet set = SetPair.builder(kind).listener(server).start();
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0));
            call(connection, () -> {
                send(connection, "first");
                send(connection, "second");
            });
            server.await("message");
            server.await("message");
            accepted = server.connection.join();
            connection.close();
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
            call(accepted, () -> accepted.release(server.retained.remove()));
            assertTrue(set.close(SetPair.TEN_SECONDS));
        }
        final long last = server.retained.remove();
        final UnsafeBuffer memory = (UnsafeBuffer) accepted.buffer();
        final int strideBytes = new ConnectionSizes(8, 256, 0).buffers().strideBytes();
        assertEquals("second", memory.getStringWithoutLengthUtf8(RetainedMessages.buffer(last) * strideBytes, 6));
        accepted.release(last);
    }

    @Test
    void shouldDeliverARefusedMessageAgainBeforeLaterOnes() throws Exception {
        final Recorder server = new Recorder() {
            private int asked;

            @Override
            public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
                final int length) throws Exception {
                if (++asked % 3 != 0) {
                    connection.execute(connection::resume);
                    return false;
                }
                return super.onMessage(connection, buffer, offset, length);
            }
        };
        try (SetPair pair = SetPair.of(kind, builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            call(connection, () -> {
                for (int i = 0; i < 8; i++) {
                    send(connection, "m" + i);
                }
            });
            for (int i = 0; i < 8; i++) {
                assertEquals("message m" + i, server.await("message"));
            }
        }
    }

    @Test
    void shouldReportRoomThatAWaitingMessageHasLeft() throws Exception {
        final Recorder server = new Recorder() {
            @Override
            public void onConnected(final MessageConnection accepted) {
                send(accepted, "first");
            }

            @Override
            public boolean onMessage(
                final MessageConnection accepted, final DirectBuffer buffer, final int offset, final int length) {
                final boolean isAnswered = accepted.trySend(buffer, offset, length);
                add(isAnswered ? "answered" : "refused");
                return isAnswered;
            }

            @Override
            public void onDrained(final MessageConnection accepted) {
                add("drained " + accepted.credits());
            }
        };
        final Retainer retainer = new Retainer();
        try (SetPair pair = SetPair.of(kind, builder -> builder.messagesInFlight(1), server, retainer)) {
            final MessageConnection connection = pair.connect();
            retainer.await("message first");
            call(connection, () -> send(connection, "request"));
            server.await("refused");
            call(connection, () -> connection.release(retainer.retained.remove()));
            // The answer takes the credit that the first message has returned.
            retainer.await("message request");
            call(connection, () -> connection.release(retainer.retained.remove()));
            assertEquals("drained 1", server.await("drained"));
        }
    }

    /** Both sides echo all messages for ever: each message needs credit to be answered. */
    @Test
    void shouldNotStopWhenBothWindowsAreFull() throws Exception {
        final int rounds = TestDevice.isShort() ? 500 : 5_000;
        final CompletableFuture<Boolean> done = new CompletableFuture<>();
        final ConnectionListener server = MessageConnection::trySend;
        final ConnectionListener both = new ConnectionListener() {
            private int count;

            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                if (!connection.trySend(buffer, offset, length)) {
                    return false;
                }
                if (++count == rounds) {
                    done.complete(true);
                }
                return true;
            }
        };
        try (SetPair pair = SetPair.of(kind, builder -> builder.messagesInFlight(WINDOW), server, both)) {
            final MessageConnection connection = pair.connect();
            // One less than the window: as many as are in flight can always be answered.
            call(connection, () -> {
                for (int i = 0; i < WINDOW - 1; i++) {
                    final int index = connection.tryClaim(Integer.BYTES);
                    connection.buffer().putInt(index, i);
                    connection.commit(index);
                }
            });
            assertTrue(done.get(30, TimeUnit.SECONDS));
        }
    }

    /** Messages in one direction only: credits return by messages of their own. */
    @ParameterizedTest
    @ValueSource(ints = {1, 64})
    @LoopbackCases({"2", "5"})
    void shouldReturnCreditsOfOneSidedTraffic(final int window) throws Exception {
        final int messages = TestDevice.isShort() ? 300 : 3_000;
        final CompletableFuture<Boolean> done = new CompletableFuture<>();
        final ConnectionListener sink = new ConnectionListener() {
            private int expected;

            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                assertEquals(expected++, buffer.getInt(offset));
                if (expected == messages) {
                    done.complete(true);
                }
                return true;
            }
        };
        final ConnectionListener source = new ConnectionListener() {
            private int next;

            @Override
            public void onConnected(final MessageConnection connection) {
                onDrained(connection);
            }

            @Override
            public void onDrained(final MessageConnection connection) {
                while (next < messages) {
                    final int index = connection.tryClaim(Integer.BYTES);
                    if (index < 0) {
                        return;
                    }
                    connection.buffer().putInt(index, next++);
                    connection.commit(index);
                }
            }

            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                return true;
            }
        };
        try (SetPair pair = SetPair.of(kind, builder -> builder.messagesInFlight(window), sink, source)) {
            pair.connect();
            assertTrue(done.get(30, TimeUnit.SECONDS));
            assertEquals(0, pair.server().listenerExceptions());
        }
    }

    @Test
    void shouldCheckClaims() throws Exception {
        final Recorder server = new Recorder();
        try (SetPair pair =
            SetPair.of(kind, builder -> builder.messagesInFlight(WINDOW).maxMessageBytes(100), server, client)) {
            final MessageConnection connection = pair.connect();
            call(connection, () -> {
                assertThrows(IllegalArgumentException.class, () -> connection.tryClaim(101));
                assertThrows(IllegalArgumentException.class, () -> connection.tryClaim(-1));
                assertThrows(IllegalStateException.class, () -> connection.commit(0));
                assertThrows(IllegalStateException.class, () -> connection.abort(-1));
                final int aborted = connection.tryClaim(3);
                assertThrows(IllegalStateException.class, () -> connection.tryClaim(3));
                assertThrows(IllegalStateException.class, () -> send(connection, "x"));
                assertThrows(IllegalStateException.class, () -> connection.commit(aborted + 1));
                connection.abort(aborted);
                assertThrows(IndexOutOfBoundsException.class,
                    () -> connection.trySend(new UnsafeBuffer(new byte[4]), 2, 3));
                final int index = connection.tryClaim(2);
                connection.buffer().putBytes(index, "ok".getBytes(StandardCharsets.UTF_8));
                connection.commit(index);
                assertEquals(WINDOW - 1, connection.credits());
            });
            assertEquals("message ok", server.await("message"));
        }
    }

    @Test
    void shouldExecuteTasksInOrder() throws Exception {
        try (SetPair pair = SetPair.of(kind, builder -> { }, new Recorder(), client)) {
            final MessageConnection connection = pair.connect();
            final List<Integer> order = new ArrayList<>();
            final Executor executor = connection::execute;
            for (int i = 0; i < 100; i++) {
                final int number = i;
                executor.execute(() -> order.add(number));
            }
            call(connection, () -> { });
            assertEquals(100, order.size());
            assertEquals(99, order.getLast());
            connection.execute(() -> {
                throw new IllegalStateException("thrown by a task of the test");
            });
            call(connection, () -> { });
            assertEquals(1, pair.client().listenerExceptions());
            pair.client().close();
            assertFalse(connection.execute(() -> { }));
        }
    }

    private static int sendUntilRefused(final MessageConnection connection) throws Exception {
        final int[] sent = {0};
        call(connection, () -> {
            while (connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1)) {
                sent[0]++;
            }
        });
        return sent[0];
    }

    private static void call(final MessageConnection connection, final Runnable task) throws Exception {
        final CompletableFuture<Boolean> done = new CompletableFuture<>();
        assertTrue(connection.execute(() -> {
            try {
                task.run();
                done.complete(true);
            } catch (final Throwable failure) {
                done.completeExceptionally(failure);
            }
        }));
        done.get();
    }

    private static void send(final MessageConnection connection, final String text) {
        assertTrue(connection.trySend(new UnsafeBuffer(text.getBytes(StandardCharsets.UTF_8)), 0, text.length()));
    }
}
