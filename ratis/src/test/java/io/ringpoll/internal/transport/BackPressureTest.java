package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that send faster than they are served. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class BackPressureTest {
    private static final int REQUESTS = 200;
    private static final ByteString ANSWERED = ByteString.copyFromUtf8("answered");

    private final Nodes nodes;
    private final ConcurrentLinkedQueue<CompletableFuture<MessageLite>> unanswered = new ConcurrentLinkedQueue<>();
    private final AtomicInteger arrived = new AtomicInteger();
    private volatile boolean answering;

    BackPressureTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    /** Answers requests with one content only, until it answers all. */
    private CompletableFuture<? extends MessageLite> serve(final MessageType type, final MessageLite request) {
        if (answering || ((RaftClientRequestProto) request).getMessage().getContent().equals(ANSWERED)) {
            return Nodes.echo(type, request);
        }
        final CompletableFuture<MessageLite> reply = new CompletableFuture<>();
        unanswered.add(reply);
        arrived.incrementAndGet();
        return reply;
    }

    private static NodeConfig config(final String name, final PeerBounds bounds) {
        return Nodes.config(name, HandlerThreads.POLLER).with(bounds);
    }

    private Node client(final PeerRole role) {
        return nodes.node(Nodes.config("client", HandlerThreads.POLLER)
            .with(new Access(role, "c1", null, null, AddressFilter.ANY)), Nodes::echo, new TransportCounters());
    }

    private static List<CompletableFuture<ByteString>> send(final Link link, final int requests, final int lengthBytes) {
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            replies.add(Nodes.reply(link, Nodes.random(lengthBytes)));
        }
        return replies;
    }

    private void answerAll(final List<CompletableFuture<ByteString>> replies) throws Exception {
        answering = true;
        unanswered.forEach(reply -> reply.complete(RaftClientReplyProto.getDefaultInstance()));
        for (final CompletableFuture<ByteString> reply : replies) {
            reply.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldHoldBackAPeerThatSendsMoreRequestsThanTheBound() throws Exception {
        final int most = 10;
        final Nodes.Server server = nodes.server(config("server",
            PeerBounds.DEFAULT.withQueues(most, 1 << 30, 1 << 20, 1 << 30, 1 << 30)), this::serve);
        final Link link = Nodes.connect(client(PeerRole.SERVER), server.port());
        final List<CompletableFuture<ByteString>> replies = send(link, REQUESTS, 10);
        Nodes.await("the bound", () -> arrived.get() >= most);
        // Upper bounds hold at any time.
        Nodes.assertEchoed(Nodes.connect(client(PeerRole.SERVER), server.port()), ANSWERED);
        assertTrue(arrived.get() <= most + Nodes.CREDITS, arrived::toString);
        answerAll(replies);
        Nodes.await("no request left", () -> server.node().admission().requests() == 0);
        assertEquals(0, server.node().admission().bytes());
    }

    @Test
    void shouldHoldBackAPeerThatSendsMoreBytesThanTheBound() throws Exception {
        final int lengthBytes = 100_000;
        final Nodes.Server server = nodes.server(config("server",
            PeerBounds.DEFAULT.withQueues(1 << 20, 3 * lengthBytes, 1 << 20, 1 << 30, 1 << 30)), this::serve);
        final Link link = Nodes.connect(client(PeerRole.SERVER), server.port());
        final List<CompletableFuture<ByteString>> replies = send(link, 20, lengthBytes);
        Nodes.await("the bound", () -> arrived.get() >= 3);
        Nodes.assertEchoed(Nodes.connect(client(PeerRole.SERVER), server.port()), ANSWERED);
        assertTrue(arrived.get() <= 3 + Rendezvous.MAX_LANDINGS, arrived::toString);
        answerAll(replies);
    }

    /** It could ask for any number of long replies, each of which would occupy registered memory. */
    @Test
    void shouldHoldBackAPeerThatDoesNotReadItsReplies() throws Exception {
        final int lengthBytes = 300_000;
        final AtomicInteger served = new AtomicInteger();
        final Nodes.Server server = nodes.server(config("server",
            PeerBounds.DEFAULT.withQueues(1 << 20, 3 * lengthBytes, 1 << 20, 1 << 30, 1 << 30)), (type, request) -> {
                served.incrementAndGet();
                return Nodes.echo(type, Nodes.request(Nodes.random(lengthBytes)));
            });
        final Link link = Nodes.connect(client(PeerRole.SERVER), server.port());
        final CountDownLatch reading = new CountDownLatch(1);
        link.later(() -> Uninterruptibles.awaitUninterruptibly(reading));
        final List<CompletableFuture<ByteString>> replies = send(link, REQUESTS, 0);
        // Those that are under way count, too.
        Nodes.await("the bound", () -> served.get() >= Nodes.CREDITS);
        TimeUnit.MILLISECONDS.sleep(200);
        assertTrue(served.get() <= Nodes.CREDITS + 3, served::toString);
        reading.countDown();
        for (final CompletableFuture<ByteString> reply : replies) {
            assertEquals(lengthBytes, reply.get(30, TimeUnit.SECONDS).size());
        }
        Nodes.await("no request left", () -> server.node().admission().requests() == 0);
        assertEquals(0, server.node().admission().bytes());
    }

    /** Asks for replies while there are credits, and returns those of the replies; returns the numbers of their regions. */
    private static List<Integer> askWithoutReading(final RawPeer peer) throws Exception {
        final List<Integer> regions = new ArrayList<>();
        int credits = Nodes.CREDITS;
        for (int sent = 0; sent < 10 * Nodes.CREDITS;) {
            for (; credits > 0; credits--) {
                peer.request(sent++, Nodes.request(ByteString.EMPTY));
            }
            final Optional<Incoming> frame = peer.poll(regions.isEmpty() ? 20_000 : 1_000);
            if (frame.isEmpty()) {
                break;
            }
            credits += frame.get().header().credits();
            if (frame.get().advertisement() != null) {
                regions.add(frame.get().advertisement().number());
                peer.returnCredits(1);
            }
        }
        return regions;
    }

    /** The memory of a reply is in use until the peer reports that it has read it, and the peer may never do that. */
    @Test
    void shouldHoldBackPeersThatReturnCreditsButDoNotReadTheirReplies() throws Exception {
        final int regionBytes = 64 * 1024;
        final int most = 10;
        final AtomicInteger served = new AtomicInteger();
        final Nodes.Server server = nodes.server(config("server", PeerBounds.DEFAULT.withQueues(
            1 << 20, most * regionBytes, 1 << 20, (most + 1) * regionBytes, 1 << 30)), (type, request) -> {
                served.incrementAndGet();
                return Nodes.echo(type, Nodes.request(Nodes.random(regionBytes / 2)));
            });
        final PeerCounters clients = server.counters().peer(TransportCounters.CLIENTS);
        try (RawPeer first = new RawPeer(server.port(), Nodes.CREDITS);
            RawPeer second = new RawPeer(server.port(), Nodes.CREDITS)) {
            final List<Integer> regions = askWithoutReading(first);
            // The bound of the link, and the requests for which the peer had credits at that time.
            assertTrue(regions.size() >= most && regions.size() <= most + Nodes.CREDITS, regions::toString);
            assertEquals(regions.size(), served.get());
            final int others = askWithoutReading(second).size();
            // The bound of the node.
            assertTrue(others <= 1 + Nodes.CREDITS, () -> Integer.toString(others));
            assertEquals((regions.size() + others) * (long) regionBytes, clients.value(PeerCounters.Figure.REGISTERED_BYTES));
            // A peer that reads its replies is served.
            final Link honest = Nodes.connect(client(PeerRole.CLIENT), server.port());
            for (final CompletableFuture<ByteString> reply : send(honest, 3 * Nodes.CREDITS, 10)) {
                assertEquals(regionBytes / 2, reply.get(30, TimeUnit.SECONDS).size());
            }
            // Two at a time: so many urgent credits return together.
            for (int i = 0; i + 1 < regions.size(); i += 2) {
                first.release(regions.get(i));
                first.release(regions.get(i + 1));
                while (!first.nextOfAnyKind().header().isUrgent()) {
                    // Credits for requests.
                    assertTrue(server.node().admission().requests() > 0);
                }
            }
            first.request(1, Nodes.request(ByteString.EMPTY));
            Nodes.await("a further request", () -> served.get() > regions.size() + others + 3 * Nodes.CREDITS);
        }
        Nodes.await("no request left", () -> server.node().admission().requests() == 0);
        assertEquals(0, server.node().admission().bytes());
        assertEquals(0, clients.value(PeerCounters.Figure.REGISTERED_BYTES));
    }

    @Test
    void shouldReturnTheCreditOfARequestWhenTheHandlerHasTakenIt() throws Exception {
        final ConcurrentLinkedQueue<Runnable> untaken = new ConcurrentLinkedQueue<>();
        final Nodes.Server server = nodes.server(new RequestHandler() {
            @Override
            public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
                throw new UnsupportedOperationException("without a report");
            }

            @Override
            public CompletableFuture<? extends MessageLite> handle(
                final MessageType type, final MessageLite request, final Runnable taken) {
                untaken.add(taken);
                return new CompletableFuture<>();
            }
        });
        send(Nodes.connect(client(PeerRole.CLIENT), server.port()), REQUESTS, 10);
        Nodes.await("all credits in use", () -> untaken.size() == Nodes.CREDITS);
        int taken = 0;
        while (taken < REQUESTS) {
            assertTrue(untaken.size() <= Nodes.CREDITS, untaken.size() + " requests wait");
            Nodes.await("a request", () -> !untaken.isEmpty());
            untaken.remove().run();
            taken++;
        }
    }

    @Test
    void shouldFailRequestsOverTheBoundOfTheSender() throws Exception {
        final Nodes.Server server = nodes.server(this::serve);
        final Node client = nodes.node(config("client", PeerBounds.DEFAULT.withQueues(5, 1 << 20, 5, 1 << 20, 1 << 20)),
            Nodes::echo, new TransportCounters());
        final Link link = Nodes.connect(client, server.port());
        final List<CompletableFuture<ByteString>> replies = send(link, 5, 10);
        final ExecutionException failure = assertThrows(ExecutionException.class,
            () -> Nodes.reply(link, Nodes.random(10)).get(30, TimeUnit.SECONDS));
        assertInstanceOf(ResourceUnavailableException.class, failure.getCause());
        Nodes.await("the others", () -> arrived.get() == 5);
        answerAll(replies);
        Nodes.assertEchoed(link, Nodes.random(10));
    }

    @Test
    void shouldServeServersWhileClientsExceedTheBoundOfTheNode() throws Exception {
        final int most = 12;
        final Nodes.Server server = nodes.server(config("server",
            PeerBounds.DEFAULT.withQueues(1 << 20, 1 << 30, most, 1 << 30, 1 << 30)), this::serve);
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        final int links = 3;
        for (int i = 0; i < links; i++) {
            replies.addAll(send(Nodes.connect(client(PeerRole.CLIENT), server.port()), REQUESTS, 10));
        }
        Nodes.await("the bound", () -> arrived.get() >= most);
        final Link peer = Nodes.connect(client(PeerRole.SERVER), server.port());
        for (int i = 0; i < REQUESTS; i++) {
            Nodes.assertEchoed(peer, ANSWERED);
        }
        // A client without an unanswered request is always served.
        Nodes.assertEchoed(Nodes.connect(client(PeerRole.CLIENT), server.port()), ANSWERED);
        assertTrue(arrived.get() <= most + links * Nodes.CREDITS, arrived::toString);
        answerAll(replies);
    }

    @Test
    void shouldBoundTheMemoryOfLongMessagesOfAllPeers() throws Exception {
        final int lengthBytes = 100_000;
        final int bound = 250_000;
        final AtomicLong most = new AtomicLong();
        final AtomicInteger served = new AtomicInteger();
        final List<Nodes.Server> server = new ArrayList<>();
        server.add(nodes.server(config("server", PeerBounds.DEFAULT.withQueues(1 << 20, 1 << 30, 1 << 20, 1 << 30, bound)),
            (type, request) -> {
                most.accumulateAndGet(server.get(0).node().admission().landingBytes(), Math::max);
                served.incrementAndGet();
                return Nodes.echo(type, Nodes.request(ANSWERED));
            }));
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            replies.addAll(send(Nodes.connect(client(PeerRole.CLIENT), server.get(0).port()), 20, lengthBytes));
        }
        for (final CompletableFuture<ByteString> reply : replies) {
            assertEquals(ANSWERED, reply.get(30, TimeUnit.SECONDS));
        }
        assertTrue(most.get() <= bound, most::toString);
        assertEquals(replies.size(), served.get());
        // The memory of the last one is released after its reply.
        Nodes.await("the release of all", () -> server.get(0).node().admission().landingBytes() == 0);
        // One that is longer than the bound is read alone.
        Nodes.assertEchoed(Nodes.connect(client(PeerRole.CLIENT), nodes.server(config("small",
            PeerBounds.DEFAULT.withQueues(1 << 20, 1000, 1 << 20, 1000, 1000)), Nodes::echo).port()), Nodes.random(lengthBytes));
    }

    @Test
    void shouldForgetTheRequestsOfAPeerWhenTheyHaveEndedAfterItsConnection() throws Exception {
        final Nodes.Server server = nodes.server(this::serve);
        final Link link = Nodes.connect(client(PeerRole.CLIENT), server.port());
        send(link, 3, 10);
        Nodes.await("the requests", () -> arrived.get() == 3);
        link.fail(new IOException("enough"));
        Nodes.await("the end", server.node()::hasNoLinks);
        // The engine still has them.
        assertEquals(3, server.node().admission().requests());
        unanswered.forEach(reply -> reply.complete(RaftClientReplyProto.getDefaultInstance()));
        assertEquals(0, server.node().admission().requests());
        assertEquals(0, server.node().admission().bytes());
    }
}
