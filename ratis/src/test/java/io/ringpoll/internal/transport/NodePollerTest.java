package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.counters.CountersFolder;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class NodePollerTest {
    private static final int SHORT_MS = 100;
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);

    private final RdmaApi api;
    private final Nodes nodes;

    NodePollerTest(final RdmaApi api) {
        this.api = api;
        nodes = new Nodes(api);
    }

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
        final RcPeer device = api.ofLocal(TestDevice.address());
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
                server.poller().leave(server, LONG_NS);
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
    void shouldServeItsQueuesWhileAnotherThreadAddsOne() throws Exception {
        final Node client = nodes.client();
        final Link link = Nodes.connect(client, nodes.server(Nodes::echo).port());
        final SlowQueue slow = new SlowQueue("slow", new CountDownLatch(1), new CountDownLatch(1));
        final Thread adding = Thread.ofPlatform().start(() -> client.poller().add(slow, link));
        slow.asked.await();
        try {
            Nodes.assertEchoed(link, Nodes.random(10));
        } finally {
            slow.answers.countDown();
            adding.join();
        }
    }

    /** An empty queue that takes time to add. */
    private record SlowQueue(String name, CountDownLatch asked, CountDownLatch answers) implements CompletionQueue {
        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return 0;
        }

        @Override
        public Object underlying() {
            asked.countDown();
            Uninterruptibles.awaitUninterruptibly(answers);
            return this;
        }
    }
}
