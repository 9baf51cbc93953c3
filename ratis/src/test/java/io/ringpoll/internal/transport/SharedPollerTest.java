package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class SharedPollerTest {
    private static final String POLLERS = "shared-rdma-";
    private static final int ROUNDS = 5;
    private static final int LEAVING = 6;

    private final RdmaApi api;
    private final Nodes nodes;

    SharedPollerTest(final RdmaApi api) {
        this.api = api;
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() throws InterruptedException {
        nodes.close();
        Nodes.await("the end of all pollers", () -> pollers().findAny().isEmpty());
    }

    private static PollerConfig shared(final WaitMode idle) {
        return new PollerConfig(true, -1, idle, 20_000, HandlerThreads.POLLER, WaitMode.BLOCK);
    }

    private static Stream<Thread> pollers() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith(POLLERS));
    }

    private Nodes.Server server(final String name, final PollerConfig poller, final RequestHandler requests) throws IOException {
        final TransportCounters counters = new TransportCounters();
        final Node node = nodes.node(Nodes.config(name, poller), requests, counters);
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        node.listen(TestDevice.address(), port);
        return new Nodes.Server(node, port, counters);
    }

    private Node client(final String name, final PollerConfig poller) {
        return nodes.node(Nodes.config(name, poller),
            (type, request) -> CompletableFuture.failedFuture(new IOException("not me")), new TransportCounters());
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeAllNodesOnOneThread(final WaitMode idle) throws Exception {
        final Set<Thread> servedOn = ConcurrentHashMap.newKeySet();
        final RequestHandler noting = (type, request) -> {
            servedOn.add(Thread.currentThread());
            return Nodes.echo(type, request);
        };
        final Nodes.Server first = server("first", shared(idle), noting);
        final Nodes.Server second = server("second", shared(idle), noting);
        final Node client = client("third", shared(idle));
        final int overhead = Nodes.request(Nodes.random(LongMessageThreads.INLINE_BYTES)).getSerializedSize() -
            LongMessageThreads.INLINE_BYTES;
        for (final Nodes.Server server : new Nodes.Server[] {first, second}) {
            final Link link = Nodes.connect(client, server.port());
            for (final int length : new int[] {10, 50_000, LongMessageThreads.INLINE_BYTES - overhead}) {
                Nodes.assertEchoed(link, Nodes.random(length));
            }
            assertEquals(0, server.counters().value(Count.COMPLETION_ERRORS));
        }
        assertEquals(servedOn, Set.copyOf(pollers().toList()));
        assertEquals(1, servedOn.size());
    }

    @Test
    void shouldContinueForOtherNodesWhenABusyNodeLeaves() throws Exception {
        final PollerConfig poller = shared(WaitMode.BLOCK);
        final Nodes.Server stays = server("stays", poller, Nodes::echo);
        final Node client = client("client", poller);
        final Link link = Nodes.connect(client, stays.port());
        for (int i = 0; i < 10; i++) {
            final Nodes.Server leaves = server("leaves", poller, Nodes::echo);
            final Link toLeaving = Nodes.connect(client, leaves.port());
            for (int k = 0; k < 20; k++) {
                Nodes.reply(toLeaving, Nodes.random(k % 2 == 0 ? 10 : 20_000));
            }
            leaves.node().close();
            Nodes.assertEchoed(link, Nodes.random(20_000));
        }
        assertEquals(1, pollers().count());
        Nodes.await("the end of all other connections",
            () -> IntStream.rangeClosed(2, 11).allMatch(number -> client.link(number) == null));
    }

    @Test
    void shouldLetManyNodesLeaveConcurrently() throws Exception {
        final PollerConfig poller = shared(WaitMode.YIELD);
        final Nodes.Server stays = server("stays", poller, Nodes::echo);
        final Node client = client("client", poller);
        final Link link = Nodes.connect(client, stays.port());
        for (int round = 0; round < ROUNDS; round++) {
            final List<Node> leaving = new ArrayList<>();
            for (int i = 0; i < LEAVING; i++) {
                leaving.add(server("leaves-" + i, poller, Nodes::echo).node());
            }
            final CountDownLatch together = new CountDownLatch(1);
            final List<Thread> closers = leaving.stream().map(node -> Thread.ofPlatform().start(() -> {
                together.countDown();
                node.close();
            })).toList();
            together.await();
            while (closers.stream().anyMatch(Thread::isAlive)) {
                Nodes.assertEchoed(link, Nodes.random(10));
            }
        }
    }

    @Test
    void shouldNotShareAPollerBetweenDifferentConfigurations() throws Exception {
        final Nodes.Server sleeping = server("sleeping", shared(WaitMode.BLOCK), Nodes::echo);
        final Node yielding = client("yielding", shared(WaitMode.YIELD));
        Nodes.assertEchoed(Nodes.connect(yielding, sleeping.port()), Nodes.random(10));
        assertEquals(2, pollers().count());
    }

    @Test
    void shouldStartANewPollerAfterAllNodesHaveLeft() throws Exception {
        for (int i = 0; i < 3; i++) {
            try (Nodes own = new Nodes(api)) {
                final PollerConfig poller = shared(WaitMode.BLOCK);
                final Node server = own.node(Nodes.config("server", poller), Nodes::echo, new TransportCounters());
                final int port = Integer.parseInt(ConnectedPair.anyPort());
                server.listen(TestDevice.address(), port);
                Nodes.assertEchoed(Nodes.connect(client("client-" + i, poller), port), Nodes.random(10));
            }
            nodes.close();
            Nodes.await("the end of its poller", () -> pollers().findAny().isEmpty());
        }
    }

    @Test
    void shouldRejectASharedPollerWithHandlerThreads() {
        assertThrows(IllegalArgumentException.class,
            () -> new PollerConfig(true, -1, WaitMode.YIELD, 0, HandlerThreads.ONE, WaitMode.BLOCK));
    }
}
