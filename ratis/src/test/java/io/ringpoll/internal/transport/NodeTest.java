package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
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
class NodeTest {
    private final RdmaApi api;
    private final Nodes nodes;

    NodeTest(final RdmaApi api) {
        this.api = api;
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    @Test
    void shouldReplyToRequestsOfEveryLength() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Link link = Nodes.connect(nodes.client(), server.port());
        // Around the end of a buffer and of a read, and over several reads.
        final int most = Nodes.BUFFER_BYTES - FrameHeader.LENGTH_BYTES;
        for (final int length : new int[] {0, 1, most - 8, most - 7, most - 6, most - 5, most, most + 1, 100_000,
            Landing.MAX_READ_BYTES, Landing.MAX_READ_BYTES + 1, Nodes.MAX_MESSAGE_BYTES - 100}) {
            Nodes.assertEchoed(link, Nodes.random(length));
        }
        final long received = server.counters().value(Count.RENDEZVOUS_RECEIVED);
        assertTrue(received >= 5);
        // Counted after the post: the reply may be received earlier.
        Nodes.await("as many replies", () -> server.counters().value(Count.RENDEZVOUS_SENT) == received);
        assertEquals(0, server.counters().value(Count.COMPLETION_ERRORS));
    }

    @Test
    void shouldCarryManyConcurrentRequestsWithFewCredits() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final List<Link> links = new ArrayList<>();
        final Node client = nodes.client();
        for (int i = 0; i < 3; i++) {
            links.add(Nodes.connect(client, server.port()));
        }
        final List<ByteString> contents = new ArrayList<>();
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < 1500; i++) {
            final ByteString content = Nodes.random(i % 20 == 0 ? 70_000 : i % 900);
            contents.add(content);
            replies.add(Nodes.reply(links.get(i % links.size()), content));
        }
        for (int i = 0; i < contents.size(); i++) {
            assertEquals(contents.get(i), replies.get(i).get(30, TimeUnit.SECONDS), "reply " + i);
        }
        assertEquals(0, server.counters().value(Count.COMPLETION_ERRORS));
        assertEquals(0, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    @Test
    void shouldContinueInOneDirectionWithoutReplies() throws Exception {
        final ConcurrentLinkedQueue<CompletableFuture<MessageLite>> unanswered = new ConcurrentLinkedQueue<>();
        final Nodes.Server server = nodes.server((type, request) -> {
            final CompletableFuture<MessageLite> reply = new CompletableFuture<>();
            unanswered.add(reply);
            return reply;
        });
        final Link link = Nodes.connect(nodes.client(), server.port());
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            replies.add(Nodes.reply(link, Nodes.random(10)));
        }
        // Credits are returned although no frame is sent that could carry them.
        Nodes.await("all requests at the server", () -> unanswered.size() == 100);
        assertTrue(server.counters().value(Count.CREDIT_FRAMES_SENT) >= 100 / Nodes.CREDITS);
        unanswered.forEach(reply -> Nodes.echo(MessageType.CLIENT_REQUEST, Nodes.request(ByteString.EMPTY))
            .thenAccept(reply::complete));
        for (final CompletableFuture<ByteString> reply : replies) {
            assertEquals(ByteString.EMPTY, reply.get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
        }
    }

    @Test
    void shouldReportTheExceptionOfARequest() throws Exception {
        final Nodes.Server server =
            nodes.server((type, request) -> CompletableFuture.failedFuture(new GroupMismatchException("not this one")));
        final Link link = Nodes.connect(nodes.client(), server.port());
        final Throwable failure = failureOf(Nodes.reply(link, ByteString.EMPTY));
        assertInstanceOf(GroupMismatchException.class, failure);
        assertEquals("not this one", failure.getMessage());
        assertTrue(link.isOpen());
    }

    @Test
    void shouldRejectAMessageOverTheLimitAndKeepTheConnection() throws Exception {
        final Link link = Nodes.connect(nodes.client(), nodes.server(Nodes::echo).port());
        final Throwable failure = failureOf(Nodes.reply(link, Nodes.random(Nodes.MAX_MESSAGE_BYTES + 1)));
        assertTrue(failure.getMessage().contains("raft.rdma.message.size.max"), failure.getMessage());
        Nodes.assertEchoed(link, Nodes.random(10));
    }

    @Test
    void shouldFailOutstandingRequestsWhenThePeerDisconnects() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<MessageLite>());
        final Link link = Nodes.connect(nodes.client(), server.port());
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(100_000));
        final CompletableFuture<ByteString> other = Nodes.reply(link, ByteString.EMPTY);
        server.node().close();
        assertInstanceOf(AlreadyClosedException.class, failureOf(reply));
        assertInstanceOf(AlreadyClosedException.class, failureOf(other));
        assertFalse(link.isOpen());
        assertInstanceOf(AlreadyClosedException.class, failureOf(Nodes.reply(link, ByteString.EMPTY)));
    }

    @Test
    void shouldReportThatNoServerListens() {
        final Node client = nodes.client();
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        final ConnectException failure = assertThrows(ConnectException.class, () -> Nodes.connect(client, port));
        assertTrue(failure.getMessage().matches("cannot connect to .* at .*:" + port + ": .*REJECTED.*"), failure.getMessage());
    }

    @Test
    void shouldRejectAConnectionAboveTheMaximum() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node first = nodes.client();
        final List<Link> links = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            links.add(Nodes.connect(first, server.port()));
        }
        final Node second = nodes.client();
        assertThrows(ConnectException.class, () -> Nodes.connect(second, server.port()));
        Nodes.await("a rejection", () -> server.counters().value(Count.CONNECTIONS_REJECTED) == 1);
        links.get(0).fail(new IOException("enough"));
        Nodes.await("the end of one", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        Nodes.assertEchoed(Nodes.connect(second, server.port()), Nodes.random(10));
        Nodes.assertEchoed(links.get(7), Nodes.random(10));
    }

    @Test
    void shouldRefuseAConnectAboveItsOwnMaximum() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(new NodeConfig("client", Nodes.BUFFER_BYTES, Nodes.CREDITS, 1, Nodes.MAX_MESSAGE_BYTES,
            0, ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false), Nodes::echo, counters);
        final Link only = Nodes.connect(client, server.port());
        final ConnectException failure = assertThrows(ConnectException.class, () -> Nodes.connect(client, server.port()));
        assertTrue(failure.getCause().getMessage().contains("raft.rdma.connections.max"), failure.toString());
        assertEquals(1, counters.value(Count.CONNECTS_FAILED));
        Nodes.assertEchoed(only, Nodes.random(10));
    }

    @Test
    void shouldEndOnlyTheConnectionOfAFailedQueue() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node client = nodes.client();
        final Link first = Nodes.connect(client, server.port());
        final Link second = Nodes.connect(client, server.port());
        first.onQueueFault("the queue has failed");
        assertFalse(first.isOpen());
        Nodes.assertEchoed(second, Nodes.random(10));
    }

    @Test
    void shouldReleaseTheMemoryOfALongMessageThatCannotBeWritten() throws Exception {
        final Node client = nodes.client();
        // The close of its device checks the release.
        assertThrows(IOException.class, () -> client.advertised(Nodes.request(Nodes.random(100)), 10));
    }

    @Test
    void shouldHaveABufferForEachCredit() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Link link = Nodes.connect(nodes.node("client", Nodes::echo, counters), server.port());
        final CompletableFuture<Long> delayed = new CompletableFuture<>();
        // On the poller's thread, so that no buffer is released meanwhile.
        Nodes.reply(link, Nodes.random(10)).thenAccept(reply -> {
            for (int i = 0; i < Nodes.CREDITS; i++) {
                Nodes.reply(link, Nodes.random(10));
            }
            delayed.complete(counters.value(Count.SENDS_DELAYED));
        });
        assertEquals(0, delayed.get(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldServeManySuccessiveConnections() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node client = nodes.client();
        for (int i = 0; i < 30; i++) {
            final Link link = Nodes.connect(client, server.port());
            server.awaitOpened(i + 1);
            Nodes.assertEchoed(link, Nodes.random(i % 2 == 0 ? 10 : 50_000));
            // During further requests.
            Nodes.reply(link, Nodes.random(100_000));
            link.fail(new IOException("enough"));
        }
        Nodes.await("the end of all", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 30);
        Nodes.assertEchoed(Nodes.connect(client, server.port()), Nodes.random(10));
        assertEquals(0, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    @ParameterizedTest
    @EnumSource
    void shouldWorkWithAllHandlerThreads(final HandlerThreads handlers) throws Exception {
        final TransportCounters counters = new TransportCounters();
        try (Node server =
            new Node(Nodes.config("placed", handlers), api.ofLocal(TestDevice.address()), Nodes::echo, counters)) {
            final int port = Integer.parseInt(ConnectedPair.anyPort());
            server.listen(TestDevice.address(), port);
            final Link link = Nodes.connect(nodes.client(), port);
            final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
            final ByteString content = Nodes.random(5_000);
            for (int i = 0; i < 200; i++) {
                replies.add(Nodes.reply(link, i % 2 == 0 ? content : ByteString.EMPTY));
            }
            for (int i = 0; i < 200; i++) {
                assertEquals(i % 2 == 0 ? content : ByteString.EMPTY, replies.get(i).get(30, TimeUnit.SECONDS));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseOnTheThreadOfAReply(final HandlerThreads handlers) throws Exception {
        final CompletableFuture<MessageLite> answer = new CompletableFuture<>();
        final int before = HotCalls.registered();
        final Nodes.Server server = nodes.server((type, request) -> answer);
        final Node client = nodes.node(patient(handlers), Nodes::echo, new TransportCounters());
        final CompletableFuture<Thread> closing = Nodes.reply(Nodes.connect(client, server.port()), Nodes.random(10))
            .handle((reply, failure) -> closedHere(client));
        answer.complete(RaftClientReplyProto.getDefaultInstance());
        assertEnds(closing);
        server.node().close();
        awaitEndOfCalls(before);
    }

    @Test
    void shouldCloseOnTheThreadOfAConnectionFailure() throws Exception {
        final int before = HotCalls.registered();
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        final Node client = nodes.node(patient(HandlerThreads.POLLER), Nodes::echo, new TransportCounters());
        final CompletableFuture<Thread> closing = Nodes.reply(Nodes.connect(client, server.port()), Nodes.random(10))
            .handle((reply, failure) -> closedHere(client));
        server.node().close();
        assertEnds(closing);
        awaitEndOfCalls(before);
    }

    private static Thread closedHere(final Node node) {
        node.close();
        return Thread.currentThread();
    }

    /** A wait of its close for its own thread would last longer than those of the test. */
    private static NodeConfig patient(final HandlerThreads handlers) {
        return new NodeConfig("closes-itself", Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 1 << 20,
            ConnectedPair.TIMEOUT_MS, 600_000, PollerConfig.own(handlers), false);
    }

    private static void assertEnds(final CompletableFuture<Thread> closing) throws Exception {
        assertTrue(closing.get(40, TimeUnit.SECONDS).getName().startsWith("closes-itself"));
        Nodes.await("the end of all its threads", () -> threads("closes-itself") == 0);
    }

    /** Waits until no more objects are used for calls into C than before; some of an earlier test may have ended since. */
    private static void awaitEndOfCalls(final int before) throws Exception {
        Nodes.await("the end of all that calls C", () -> HotCalls.registered() <= before);
    }

    @Test
    void shouldReleaseEverythingWhenThePollerCannotStart() throws Exception {
        final int before = HotCalls.registered();
        final PollerConfig nowhere =
            new PollerConfig(false, 4095, WaitMode.YIELD, 0, HandlerThreads.POLLER, WaitMode.BLOCK);
        // The first attempt may load classes from files that remain open.
        int files = Integer.MAX_VALUE;
        for (int attempt = 0; attempt < 3; attempt++) {
            final RcPeer peer = api.ofLocal(TestDevice.address());
            assertThrows(RuntimeException.class,
                () -> new Node(Nodes.config("nowhere", nowhere), peer, Nodes::echo, new TransportCounters()));
            assertTrue(peer.isClosed());
            assertEquals(before, HotCalls.registered());
            final int most = files;
            Nodes.await("the close of all files", () -> ProcessResources.fileDescriptors() <= most);
            files = ProcessResources.fileDescriptors();
        }
        Nodes.await("the end of its threads", () -> threads("nowhere", "wait-check-of-nowhere") == 0);
    }

    /** The close of the server's device checks that its memory is released. */
    @Test
    void shouldReleaseTheMemoryOfAConnectionThatCannotBeMade() throws Exception {
        final AtomicBoolean fails = new AtomicBoolean(true);
        final Nodes.Server server = nodes.server(new RequestHandler() {
            @Override
            public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
                return Nodes.echo(type, request);
            }

            @Override
            public RequestHandler forConnection() {
                if (fails.getAndSet(false)) {
                    throw new IllegalStateException("on purpose");
                }
                return this;
            }
        });
        final Node client = nodes.client();
        try {
            Nodes.connect(client, server.port());
        } catch (final ConnectException e) {
            // It may have been established for a moment.
            assertFalse(fails.get());
        }
        Nodes.await("the rejection", () -> server.counters().value(Count.CONNECTIONS_REJECTED) == 1);
        Nodes.assertEchoed(Nodes.connect(client, server.port()), Nodes.random(10));
    }

    @Test
    void shouldHaveRoomForASendPerBufferAndAReadPerLanding() throws Exception {
        final int credits = 8;
        final CompletableFuture<MessageLite> answer = new CompletableFuture<>();
        final Nodes.Server server = nodes.server((type, request) -> answer);
        final Link link = Nodes.connect(nodes.node(new NodeConfig("client", Nodes.BUFFER_BYTES, credits, 8,
            Nodes.MAX_MESSAGE_BYTES, 0, ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false),
            Nodes::echo, new TransportCounters()), server.port());
        // On the poller's thread, so that no completion makes room meanwhile.
        final CompletableFuture<Integer> posted = Nodes.reply(link, Nodes.random(10)).thenApply(reply -> {
            int posts = 0;
            while (posts < 1000 && link.connection().send(link.memory().region(), 0, 1, true, 1)) {
                posts++;
            }
            return posts;
        });
        answer.complete(RaftClientReplyProto.getDefaultInstance());
        final int buffers = credits + 2 * NodeConfig.CONTROL_FRAMES + NodeConfig.URGENT_FRAMES;
        final int disconnect = 1;
        // The first request may occupy an entry until a later send is signalled.
        assertTrue(posted.get(30, TimeUnit.SECONDS) + 1 >= buffers + Rendezvous.MAX_LANDINGS + disconnect, posted::toString);
    }

    @Test
    void shouldServeARequestThatArrivesBeforeItsConnectionIsRegistered() throws Exception {
        final CountDownLatch sent = new CountDownLatch(1);
        final Nodes.Server server = nodes.server(new RequestHandler() {
            @Override
            public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
                return Nodes.echo(type, request);
            }

            @Override
            public RequestHandler forConnection() {
                Uninterruptibles.awaitUninterruptibly(sent);
                return this;
            }
        });
        final ByteString content = Nodes.random(10);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS)) {
            peer.request(1, Nodes.request(content));
            sent.countDown();
            assertEquals(content, ((RaftClientReplyProto) peer.next().message()).getMessage().getContent());
        } finally {
            sent.countDown();
        }
    }

    @Test
    void shouldNotReleaseItsMemoryWhileAHandlerUsesIt() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch ends = new CountDownLatch(1);
        final RcPeer device = api.ofLocal(TestDevice.address());
        final Node server = new Node(impatient("stuck-handler", HandlerThreads.ONE), device, (type, request) -> {
            entered.countDown();
            Uninterruptibles.awaitUninterruptibly(ends);
            return Nodes.echo(type, request);
        }, new TransportCounters());
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        server.listen(TestDevice.address(), port);
        Nodes.reply(Nodes.connect(nodes.client(), port), Nodes.random(10));
        entered.await();
        server.close();
        assertFalse(device.isClosed());
        ends.countDown();
        Nodes.await("the end of all its threads", () -> threads("stuck-handler") == 0);
    }

    @Test
    void shouldContinueToPollWhileAConnectionHasNotEnded() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch ends = new CountDownLatch(1);
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        final RcPeer device = api.ofLocal(TestDevice.address());
        final Node client =
            new Node(impatient("stuck-keeper", HandlerThreads.POLLER), device, Nodes::echo, new TransportCounters());
        // Runs on the thread that ends the connections.
        Nodes.reply(Nodes.connect(client, server.port()), Nodes.random(10)).whenComplete((reply, failure) -> {
            entered.countDown();
            Uninterruptibles.awaitUninterruptibly(ends);
        });
        client.close();
        entered.await();
        assertFalse(device.isClosed());
        assertTrue(thread("stuck-keeper-poller").isAlive());
        ends.countDown();
        Nodes.await("the end of the thread", () -> threads("stuck-keeper-connections") == 0);
    }

    private static NodeConfig impatient(final String name, final HandlerThreads handlers) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 0, ConnectedPair.TIMEOUT_MS,
            500, PollerConfig.own(handlers), false);
    }

    @Test
    void shouldLeakNoThread() throws Exception {
        try (Nodes own = new Nodes(api)) {
            final Link link = Nodes.connect(own.client(), own.server(Nodes::echo).port());
            Nodes.assertEchoed(link, Nodes.random(10));
            assertTrue(threads("client", "server") >= 4);
        }
        Nodes.await("the end of all threads", () -> threads("client", "server") == 0);
    }

    private static long threads(final String... names) {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> Stream.of(names).anyMatch(name -> thread.getName().startsWith(name))).count();
    }

    private static Thread thread(final String name) {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals(name)).findAny()
            .orElseThrow();
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }
}
