package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.LoopbackCases;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Pending receives: those of handled messages that are posted again together with later ones. For each number of them, all are
 * posted in the end, the peer gets its credits, and the connection can close.
 */
@Timeout(60)
@Tag(TestDevice.TAG)
@ParameterizedClass
@EnumSource(names = {"RPMA", "SHARED_QUEUE"})
@LoopbackCases("VERBS")
class PendingReceivesTest {
    /** More messages than receives can be pending. */
    private static final int MOST_MESSAGES = 6;

    private final SetKind kind;
    private final Side server = new Side();
    private final Side client = new Side();

    PendingReceivesTest(final SetKind kind) {
        this.kind = kind;
    }

    /** One side of the connection. It answers or retains each message, or only counts it. */
    private static final class Side extends Recorder {
        private final ConcurrentLinkedQueue<Long> retained = new ConcurrentLinkedQueue<>();
        private volatile MessageConnection connection;
        private volatile boolean answers;
        private volatile boolean retains;

        @Override
        public void onConnected(final MessageConnection connected) {
            connection = connected;
            super.onConnected(connected);
        }

        @Override
        public boolean onMessage(final MessageConnection from, final DirectBuffer buffer, final int offset, final int length)
            throws Exception {
            if (retains) {
                retained.add(from.retain());
            } else if (answers && !from.trySend(buffer, offset, length)) {
                return false;
            }
            return super.onMessage(from, buffer, offset, length);
        }

        /** Sends messages; waits for credit where necessary. */
        void send(final int messages) throws Exception {
            int left = messages;
            while (left > 0) {
                left -= trySend(left);
                if (left > 0) {
                    await("drained");
                }
            }
        }

        /** Sends messages until the credit is used up; returns the number of sent ones. */
        int trySend(final int messages) throws Exception {
            final int[] sent = {0};
            call(() -> {
                while (sent[0] < messages && connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1)) {
                    sent[0]++;
                }
            });
            return sent[0];
        }

        void await(final int messages) throws InterruptedException {
            for (int i = 0; i < messages; i++) {
                await("message");
            }
        }

        void releaseAll() throws Exception {
            call(() -> {
                while (!retained.isEmpty()) {
                    connection.release(retained.remove());
                }
            });
        }

        private void call(final Runnable task) throws Exception {
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
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 16})
    @LoopbackCases({"2", "3", "8", "12", "21"})
    void shouldGrantTheWholeWindowAfterAnyNumberOfMessages(final int window) throws Exception {
        try (SetPair pair = connect(window)) {
            for (int messages = 0; messages <= MOST_MESSAGES; messages++) {
                exchange(messages);
                requireWholeWindow(client, server, window);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 12})
    @LoopbackCases({"2", "4", "8", "16", "21"})
    void shouldGrantBothWindowsAfterAnyNumberOfAnswers(final int window) throws Exception {
        server.answers = true;
        try (SetPair pair = connect(window)) {
            for (int messages = 0; messages <= MOST_MESSAGES; messages++) {
                exchange(messages);
                requireWholeWindow(client, server, window);
                requireWholeWindow(server, client, window);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, true", "8, false"})
    @LoopbackCases({"3, false", "4, true", "12, true", "16, false", "16, true"})
    void shouldEndWithAnyNumberOfThem(final int window, final boolean clientCloses) throws Exception {
        try (SetPair pair = connect(window)) {
            for (int messages = 0; messages <= MOST_MESSAGES; messages++) {
                exchange(messages);
                final Side closing = clientCloses ? client : server;
                closing.connection.close();
                assertEquals("disconnected CLOSED", closing.await("disconnected"));
                assertEquals("disconnected PEER_CLOSED", (clientCloses ? server : client).await("disconnected"));
                connect(pair);
                // The new connection has the buffers of the closed one.
                requireWholeWindow(client, server, window);
            }
        }
    }

    private SetPair connect(final int window) throws Exception {
        final SetPair pair = SetPair.of(kind, builder -> builder.messagesInFlight(window), server, client);
        connect(pair);
        return pair;
    }

    private void connect(final SetPair pair) throws Exception {
        pair.connect();
        server.await("connected");
        client.await("connected");
    }

    /** Sends messages from client to server one after the other, and awaits each one and its answer. */
    private void exchange(final int messages) throws Exception {
        for (int i = 0; i < messages; i++) {
            client.send(1);
            server.await("message");
            if (server.answers) {
                client.await("message");
            }
        }
    }

    /** Requires that one side can send exactly its window while the other side retains all messages. */
    private static void requireWholeWindow(final Side from, final Side to, final int window) throws Exception {
        to.retains = true;
        from.send(window);
        to.await(window);
        assertEquals(0, from.trySend(1), "a message beyond the window");
        to.retains = false;
        to.releaseAll();
    }
}
