package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.ringpoll.internal.counters.CountersFolder;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class NodePollerTest {
    private static final int SHORT_MS = 100;
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);

    private final Nodes nodes = new Nodes();

    @AfterEach
    void close() {
        nodes.close();
    }

    private static NodeConfig config(final String name, final HandlerThreads handlers, final boolean countersFile) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 0, ConnectedPair.TIMEOUT_MS,
            SHORT_MS, PollerConfig.own(handlers), countersFile);
    }

    @Test
    void shouldAwaitTheEndOfAHandlerThatAnEarlierCallDidNotAwait() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch ends = new CountDownLatch(1);
        final Peer device = Peer.ofLocal(TestDevice.address());
        final Node server = new Node(config("left-twice", HandlerThreads.ONE, false), device, (type, request) -> {
            entered.countDown();
            Uninterruptibles.awaitUninterruptibly(ends);
            return Nodes.echo(type, request);
        }, new TransportCounters());
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        server.listen(TestDevice.address(), port);
        Nodes.reply(Nodes.connect(nodes.client(), port), Nodes.random(10));
        entered.await();
        server.close();
        assertFalse(device.isClosed(), "the first call has waited for the handler");
        final CompletableFuture<Void> left = new CompletableFuture<>();
        final Thread leaving = Thread.ofPlatform().start(() -> {
            try {
                server.poller().leave(null, LONG_NS);
                left.complete(null);
            } catch (final TimeoutException e) {
                left.completeExceptionally(e);
            }
        });
        Nodes.await("the wait", () -> leaving.getState() == Thread.State.TIMED_WAITING || left.isDone());
        ends.countDown();
        left.get(30, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldHaveACountersFileIfConfigured(final boolean countersFile) {
        final long before = countersFiles();
        nodes.node(config("counted", HandlerThreads.POLLER, countersFile), Nodes::echo, new TransportCounters());
        assertEquals(countersFile ? 1 : 0, countersFiles() - before);
    }

    private static long countersFiles() {
        return CountersFolder.files(CountersFolder.defaultFolder()).stream()
            .filter(file -> CountersFolder.pid(file) == ProcessHandle.current().pid()).count();
    }

    @Test
    void shouldRemoveAQueueOnce() throws Exception {
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node("client", Nodes::echo, counters);
        final Link link = Nodes.connect(client, nodes.server(Nodes::echo).port());
        assertEquals(2, client.poller().queues());
        for (int i = 0; i < 2; i++) {
            client.poller().remove(link.queueIndex());
            assertEquals(1, client.poller().queues());
        }
        link.fail(new IOException("enough"));
        Nodes.await("its end", () -> counters.value(Count.CONNECTIONS_CLOSED) == 1);
    }
}
