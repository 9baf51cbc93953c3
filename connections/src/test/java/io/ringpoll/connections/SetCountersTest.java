package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.counters.Counter;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.ConcurrentCountersManager;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The counts of a set are among the counters of its pipelines. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag(TestDevice.TAG)
class SetCountersTest {
    private static final int WINDOW = 8;

    private final Recorder client = new Recorder();

    /** Throws at each message, which counts as handled. */
    private static final class Throwing extends Recorder {
        @Override
        public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
            final int length) throws IOException {
            throw new IOException("thrown by the listener");
        }
    }

    @Test
    void shouldPublishTheCountsOfASet() throws Exception {
        try (ConnectionSet servers = SetPair.builder().pollers(2).maxConnections(2).errorHandler(failure -> { })
            .listener(new Throwing()).start(); ConnectionSet clients = SetPair.builder().listener(client).start()) {
            final int port = servers.listen(0);
            final MessageConnection connection = clients.connect(TestDevice.address(), port);
            clients.connect(TestDevice.address(), port);
            assertThrows(ConnectException.class, () -> clients.connect(TestDevice.address(), port));
            final UnsafeBuffer message = new UnsafeBuffer(new byte[1]);
            assertTrue(connection.execute(() -> {
                for (int i = 0; i < WINDOW; i++) {
                    assertTrue(connection.trySend(message, 0, 1));
                }
                assertEquals(MessageConnection.NO_CREDIT, connection.tryClaim(1));
            }));
            assertEquals("drained", client.await("drained"));
            awaitSum(servers, "connections", 2);
            awaitSum(servers, "rejected_requests", 1);
            awaitSum(servers, "listener_exceptions", WINDOW);
            awaitSum(clients, "connections", 2);
            awaitSum(clients, "refused_sends", 1);
            final Counter counter = named(servers, "rejected_requests").getFirst();
            assertEquals(servers.name(), counter.attributes().get("set"));
            assertEquals("requests", counter.unit());
            assertEquals(2, named(servers, "rejected_requests").size(), "of two pollers");
            connection.close();
            awaitSum(clients, "connections", 1);
            awaitSum(servers, "connections", 1);
            final StringBuilder exported = new StringBuilder();
            clients.pipelines().getFirst().counters().writeOpenMetrics(exported);
            assertTrue(exported.toString().contains("ringpoll_refused_sends_total{"), exported::toString);
        }
    }

    /** The places of its counters are those of others then. */
    @Test
    void shouldNotWriteToCountersThatAPipelineHasGivenBack() throws Exception {
        final CountersManager manager = new ConcurrentCountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(1 << 20)), new UnsafeBuffer(ByteBuffer.allocateDirect(1 << 18)));
        try (ConnectionSet set = SetPair.builder().listener(client)
            .pipelines(i -> Pipeline.builder().name("returned").countersManager(manager)).start()) {
            set.pipelines().getFirst().close();
            final List<AtomicCounter> others = IntStream.range(0, 1000).mapToObj(i -> manager.newCounter("other")).toList();
            others.forEach(other -> other.set(-1));
            final ConnectionPoller poller = set.pollers().get(0);
            poller.execute(poller.counts());
            assertTrue(set.close(SetPair.TEN_SECONDS));
            assertEquals(0, poller.waitingTasks());
            others.forEach(other -> assertEquals(-1, other.get()));
        }
    }

    private static List<Counter> named(final ConnectionSet set, final String name) {
        return set.pipelines().stream().flatMap(pipeline -> pipeline.counters().values().stream())
            .filter(counter -> counter.name().equals(name)).toList();
    }

    private static void awaitSum(final ConnectionSet set, final String name, final long value) throws InterruptedException {
        long sum;
        do {
            Thread.sleep(10);
            sum = named(set, name).stream().mapToLong(Counter::value).sum();
        } while (sum != value);
    }
}
