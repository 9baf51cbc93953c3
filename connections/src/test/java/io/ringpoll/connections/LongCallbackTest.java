package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A callback that takes longer than the time-outs of a connection's end. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(TestDevice.TAG)
class LongCallbackTest {
    /** Longer than the time-outs for a goodbye and a flush together. */
    private static final long LONG_MS = 2000;

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch left = new CountDownLatch(1);
    /** Closes when the event of the disconnect has been handled, before the polling thread gets the goodbye. */
    private volatile boolean closesAfterEnd;
    private final Recorder server = new Recorder() {
        @Override
        public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
            final int length) throws Exception {
            super.onMessage(connection, buffer, offset, length);
            if (entered.getCount() > 0) {
                entered.countDown();
                assertTrue(left.await(1, TimeUnit.MINUTES));
                if (closesAfterEnd) {
                    for (int i = 0; connection.isConnected() && i < 30_000; i++) {
                        TimeUnit.MILLISECONDS.sleep(1);
                    }
                    connection.close();
                }
            }
            return true;
        }
    };
    private final Recorder client = new Recorder();

    @Test
    void shouldDeliverWhatThePeerHasSentBeforeItsCloseDuringTheCallback() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> send(connection, "m0"));
            assertTrue(entered.await(50, TimeUnit.SECONDS));
            closeAfterSending(connection);
            TimeUnit.MILLISECONDS.sleep(LONG_MS);
            left.countDown();
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
            assertEquals(List.of("connected", "message m0", "message m1", "message m2", "message m3", "message m4",
                "disconnected PEER_CLOSED"), server.all);
        }
    }

    @Test
    void shouldDeliverWhatThePeerHasSentBeforeItsCloseDuringTheCallbackOfAnotherConnection() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            server.await("connected");
            // The last one of the round: its callback is followed by the tasks of the thread.
            final MessageConnection other = pair.connect();
            server.await("connected");
            other.execute(() -> send(other, "m0"));
            assertTrue(entered.await(50, TimeUnit.SECONDS));
            closeAfterSending(connection);
            TimeUnit.MILLISECONDS.sleep(LONG_MS);
            left.countDown();
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
            assertEquals(List.of("connected", "connected", "message m0", "message m1", "message m2", "message m3", "message m4",
                "disconnected PEER_CLOSED"), server.all);
        }
    }

    @Test
    void shouldDeliverNothingAfterItsOwnCloseAndNotClaimToHaveDeliveredAll() throws Exception {
        closesAfterEnd = true;
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> send(connection, "m0"));
            assertTrue(entered.await(50, TimeUnit.SECONDS));
            closeAfterSending(connection);
            left.countDown();
            assertEquals("disconnected CLOSED", server.await("disconnected"));
            assertEquals(List.of("connected", "message m0", "disconnected CLOSED"), server.all);
        }
    }

    @Test
    void shouldSayGoodbyeAfterTheCallback() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> send(connection, "m0"));
            assertTrue(entered.await(50, TimeUnit.SECONDS));
            final Thread closing = Thread.ofPlatform().daemon().start(() -> pair.server().close(SetPair.TEN_SECONDS));
            TimeUnit.MILLISECONDS.sleep(LONG_MS);
            left.countDown();
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
            closing.join();
            assertEquals(List.of("connected", "message m0", "disconnected CLOSED"), server.all);
        }
    }

    private void closeAfterSending(final MessageConnection connection) throws Exception {
        connection.execute(() -> {
            for (int i = 1; i < 5; i++) {
                send(connection, "m" + i);
            }
            connection.close();
        });
        assertEquals("disconnected CLOSED", client.await("disconnected"));
    }

    private static void send(final MessageConnection connection, final String text) {
        final UnsafeBuffer message = new UnsafeBuffer(text.getBytes());
        assertTrue(connection.trySend(message, 0, message.capacity()));
    }
}
