package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that are opened and closed leave nothing behind; on the loopback device, which counts its objects. */
@Timeout(120)
class ManyConnectionsTest {
    private static final int CONNECTIONS = 1_000;
    private static final int AT_A_TIME = 50;

    /** Counts begins and ends, and echoes; now and then it throws. */
    private static final class Counting implements ConnectionListener {
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicInteger messages = new AtomicInteger();

        @Override
        public void onConnected(final MessageConnection connection) {
            begun.incrementAndGet();
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            if (messages.incrementAndGet() % 100 == 0) {
                throw new IllegalStateException("thrown by the listener of the test");
            }
            return connection.trySend(buffer, offset, length);
        }

        @Override
        public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
            ended.incrementAndGet();
        }
    }

    @Test
    void shouldLeaveNothingBehind() throws Exception {
        // The first run opens the descriptors that the process keeps, for any number of threads that work at the same time.
        run();
        final Map<String, Long> objects = ProcessResources.objects();
        final int descriptors = ProcessResources.fileDescriptors();
        run();
        assertEquals(objects, ProcessResources.objects());
        assertTrue(ProcessResources.fileDescriptorsDownTo(descriptors) <= descriptors);
    }

    @Test
    void shouldServeAThousandConnectionsOnOneThread() throws Exception {
        final CountDownLatch answers = new CountDownLatch(3 * CONNECTIONS);
        final CountDownLatch ends = new CountDownLatch(CONNECTIONS);
        final ConnectionListener client = new ConnectionListener() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                answers.countDown();
                return true;
            }

            @Override
            public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
                ends.countDown();
            }
        };
        try (ConnectionSet server = SetPair.builder().messagesInFlight(4).maxConnections(CONNECTIONS)
            .listener(MessageConnection::trySend).start();
            ConnectionSet clients = SetPair.builder().messagesInFlight(4).maxConnections(CONNECTIONS).listener(client).start()) {
            final int port = server.listen(0);
            final List<MessageConnection> all = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                all.add(clients.connect(TestDevice.address(), port));
            }
            final UnsafeBuffer message = new UnsafeBuffer(new byte[16]);
            for (int round = 0; round < 3; round++) {
                for (final MessageConnection connection : all) {
                    while (!connection.execute(() -> assertTrue(connection.trySend(message, 0, 16)))) {
                        Thread.onSpinWait();
                    }
                }
            }
            assertTrue(answers.await(30, TimeUnit.SECONDS), answers::toString);
            assertTrue(server.close(SetPair.TEN_SECONDS));
            assertTrue(ends.await(50, TimeUnit.SECONDS), ends::toString);
            assertEquals(0, clients.connections());
        }
    }

    private static void run() throws Exception {
        final Counting serverSide = new Counting();
        final Recorder clientSide = new Recorder();
        try (ConnectionSet server = SetPair.builder().messagesInFlight(4).pollers(2).errorHandler(failure -> { })
            .maxConnections(2 * AT_A_TIME).listener(serverSide).start();
            ConnectionSet clients = SetPair.builder().messagesInFlight(4).listener(clientSide).start()) {
            final int port = server.listen(0);
            final MessageConnection[] open = new MessageConnection[AT_A_TIME];
            final UnsafeBuffer message = new UnsafeBuffer(new byte[8]);
            int raw = 0;
            for (int i = 0; i < CONNECTIONS; i++) {
                final int place = i % AT_A_TIME;
                if (open[place] != null) {
                    open[place].close();
                }
                if (i % 10 == 3) {
                    raw++;
                    awaitPlace(server);
                    vanish(port);
                }
                awaitPlace(server);
                final MessageConnection connection = clients.connect(TestDevice.address(), port);
                open[place] = connection;
                assertTrue(connection.execute(() -> {
                    while (connection.trySend(message, 0, message.capacity())) {
                        Thread.onSpinWait();
                    }
                }));
            }
            assertTrue(clients.close(SetPair.TEN_SECONDS));
            assertTrue(server.close(SetPair.TEN_SECONDS));
            // No queue was polled after the end of its connection.
            for (final Pipeline pipeline : server.pipelines()) {
                assertEquals(0, pipeline.pollerCounters().queueFaults());
            }
            assertEquals(CONNECTIONS + raw, serverSide.begun.get());
            assertEquals(CONNECTIONS + raw, serverSide.ended.get());
            assertEquals(CONNECTIONS, clientSide.all.stream().filter("connected"::equals).count());
            assertEquals(CONNECTIONS, clientSide.all.stream().filter("disconnected CLOSED"::equals).count());
        }
    }

    /** On a busy machine closed connections keep their places longer than it takes to connect others; limited by the test. */
    private static void awaitPlace(final ConnectionSet server) throws InterruptedException {
        while (server.connections() == 2 * AT_A_TIME) {
            Thread.sleep(1);
        }
    }

    /** A peer that sends and ends without a goodbye. */
    private static void vanish(final int port) {
        try (RawClient peer = new RawClient(port, RawClient.HELLO.encode())) {
            assertTrue(peer.isEstablished());
            peer.send(8, 0);
        } catch (final RpmaException failed) {
            throw new AssertionError(failed);
        }
    }
}
