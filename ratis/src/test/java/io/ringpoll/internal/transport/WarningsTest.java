package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The warnings by which an operator finds out about a peer that is refused, and about resources that are not released. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class WarningsTest {
    private static final int SHORT_MS = 200;

    private final RdmaApi api;
    private final Nodes nodes;
    private Warnings warnings;

    WarningsTest(final RdmaApi api) {
        this.api = api;
        nodes = new Nodes(api);
    }

    @BeforeEach
    void collect() throws ReflectiveOperationException {
        warnings = new Warnings(Node.class);
    }

    @AfterEach
    void close() throws IllegalAccessException {
        warnings.close();
        nodes.close();
    }

    private static Node node(final String name, final HandlerThreads handlers, final int closeTimeoutMs,
        final RcPeer device, final RequestHandler requests) {
        return new Node(new NodeConfig(name, Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 0,
            ConnectedPair.TIMEOUT_MS, closeTimeoutMs, PollerConfig.own(handlers), false), device, requests,
            new TransportCounters());
    }

    @Test
    void shouldReportARejectedPeer() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        try (Peer peer = Peer.ofRemote(TestDevice.address());
            ConnectionRequest request = peer.request(TestDevice.address(), Integer.toString(server.port()));
            Connection connection = request.connect(new byte[] {1, 2, 3})) {
            warnings.await("server: rejected a peer, or the peer has disconnected: ");
            connection.nextEvent(ConnectedPair.TIMEOUT_MS);
        }
    }

    @Test
    void shouldReportAViolationOfTheProtocol() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS)) {
            peer.returnCredits(1);
            warnings.await(" has sent 5 credits, of 4 in all: its connection ends");
        }
    }

    @Test
    void shouldReportAServerThatIsLostAndRegainedEverMoreRarely() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(Nodes.config("client", HandlerThreads.POLLER), Nodes::echo, counters);
        for (int i = 1; i <= 5; i++) {
            Nodes.assertEchoed(Nodes.connect(client, server.port()), Nodes.random(10));
            server.node().endAll(new IOException("closed by the server"));
            Nodes.await("the end of the connection", client::hasNoLinks);
        }
        assertEquals(3, warnings.times("client: server is lost: "));
        warnings.await(" (4 times)");
        assertEquals(3, warnings.times(" is connected again"));
        // The side that has closed it has lost nothing.
        assertEquals(0, warnings.times("server: "));
    }

    @Test
    void shouldReportAFailedWorkRequest() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS)) {
            peer.send(new byte[Nodes.BUFFER_BYTES + 4096]);
            warnings.await(" is lost: a receive from client without a name at ");
            warnings.await(" has failed with IBV_WC_LOC_LEN_ERR (1 times)");
        }
    }

    @Test
    void shouldReportAFailedQueue() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        Nodes.connect(nodes.client(), server.port());
        server.awaitOpened(1);
        server.node().link(1).onQueueFault("the queue has failed");
        warnings.await("server: the queue has failed");
    }

    @Test
    void shouldReportResourcesThatAreInUseAtItsClose() throws Exception {
        final RcPeer device = api.ofLocal(TestDevice.address());
        final RcMemory region = device.allocate(1, RcUsage.SEND);
        node("in-use", HandlerThreads.POLLER, Nodes.CLOSE_MS, device, Nodes::echo).close();
        warnings.await("in-use: a resource could not be released: ");
        region.close();
        device.close();
    }

    @Test
    void shouldReportAHandlerThatDoesNotReturn() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch ends = new CountDownLatch(1);
        final RcPeer device = api.ofLocal(TestDevice.address());
        final Node server = node("stuck", HandlerThreads.ONE, SHORT_MS, device, (type, request) -> {
            entered.countDown();
            Uninterruptibles.awaitUninterruptibly(ends);
            return Nodes.echo(type, request);
        });
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        server.listen(TestDevice.address(), port);
        Nodes.reply(Nodes.connect(nodes.client(), port), Nodes.random(10));
        entered.await();
        server.close();
        warnings.await("stuck: its memory is not released: a handler of stuck-poller does not return");
        ends.countDown();
    }

    @Test
    void shouldReportConnectionsThatDoNotEnd() throws Exception {
        final CountDownLatch ends = new CountDownLatch(1);
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        final Node client = node("stays", HandlerThreads.POLLER, SHORT_MS,
            api.ofLocal(TestDevice.address()), Nodes::echo);
        // Runs on the thread that ends the connections.
        Nodes.reply(Nodes.connect(client, server.port()), Nodes.random(10))
            .whenComplete((reply, failure) -> Uninterruptibles.awaitUninterruptibly(ends));
        client.close();
        warnings.await("stays: its connections have not ended");
        ends.countDown();
    }

    @Test
    void shouldReportAnExceptionOfTheThreadThatOwnsTheConnections() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Link link = Nodes.connect(nodes.client(), server.port());
        nodes.client().keeper().keep(null);
        warnings.await("client: an event of a connection could not be processed");
        Nodes.assertEchoed(link, Nodes.random(10));
        link.fail(new IOException("enough"));
    }
}
