package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Closes a connection after its peer has closed it and destroyed its queue pair. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(TestDevice.TAG)
class GonePeerTest {
    /** Shorter than the retries of a goodbye to a destroyed queue pair. */
    private static final long MOST_MS = 300;
    /** Long enough for one step of another thread. */
    private static final long SHORT_MS = 50;
    private static final int TRIALS = 5;

    private final Semaphore closed = new Semaphore(0);
    private final Semaphore callbackEnd = new Semaphore(0);
    private final Semaphore filtering = new Semaphore(0);
    private final Semaphore filterEnd = new Semaphore(0);
    private volatile boolean filters;
    private final Recorder client = new Recorder();
    private final Recorder server = new Recorder() {
        @Override
        public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
            final int length) throws Exception {
            connection.close();
            closed.release();
            return acquire(callbackEnd);
        }
    };
    private final SetPair pair = SetPair.of(
        builder -> builder.acceptFilter((address, data) -> !filters || filter()), server, client);
    private long leastMs = Long.MAX_VALUE;

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void shouldSendNoGoodbyeToAPeerThatHasGone() throws Exception {
        for (int i = 0; i < TRIALS; i++) {
            final MessageConnection connection = connectAndCloseInCallback();
            closeAtPeer(connection);
            // The event of the disconnect is handled.
            TimeUnit.MILLISECONDS.sleep(SHORT_MS);
            measure(callbackEnd);
        }
        assertTrue(leastMs < MOST_MS, leastMs + " ms");
    }

    @Test
    void shouldNotWaitForAGoodbyeWhenThePeerHasGone() throws Exception {
        for (int i = 0; i < TRIALS; i++) {
            final MessageConnection connection = connectAndCloseInCallback();
            // Each request is handled in a round of its own: the close has been handled then.
            pair.connect();
            pair.connect();
            final CompletableFuture<?> connecting = blockEvents();
            closeAtPeer(connection);
            callbackEnd.release();
            // The goodbye is posted, and the event of the disconnect follows.
            TimeUnit.MILLISECONDS.sleep(SHORT_MS);
            measure(filterEnd);
            connecting.get();
        }
        assertTrue(leastMs < MOST_MS, leastMs + " ms");
    }

    private MessageConnection connectAndCloseInCallback() throws Exception {
        final MessageConnection connection = pair.connect();
        connection.execute(() -> assertTrue(connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1)));
        assertTrue(acquire(closed));
        return connection;
    }

    private void closeAtPeer(final MessageConnection connection) throws Exception {
        connection.close();
        assertEquals("disconnected CLOSED", client.await("disconnected"));
    }

    /** Lets the server's thread of events wait in the filter, for the request of the returned connect. */
    private CompletableFuture<?> blockEvents() throws Exception {
        filters = true;
        final CompletableFuture<?> connecting = CompletableFuture.runAsync(this::connect);
        assertTrue(acquire(filtering));
        filters = false;
        return connecting;
    }

    /** Measures the time until the connection of the server has ended, from the release of what it waits for. */
    private void measure(final Semaphore awaited) throws Exception {
        final long beginNs = System.nanoTime();
        awaited.release();
        assertEquals("disconnected CLOSED", server.await("disconnected"));
        leastMs = Math.min(leastMs, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs));
    }

    private boolean filter() throws InterruptedException {
        filtering.release();
        return acquire(filterEnd);
    }

    private void connect() {
        try {
            pair.connect();
        } catch (final Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static boolean acquire(final Semaphore semaphore) throws InterruptedException {
        return semaphore.tryAcquire(1, TimeUnit.MINUTES);
    }
}
