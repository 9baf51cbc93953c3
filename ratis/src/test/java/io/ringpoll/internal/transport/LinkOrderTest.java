package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The order of delivery of messages that are contained in a frame and of messages that are read from the peer's memory. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class LinkOrderTest {
    private static final int MESSAGES = 400;
    private static final long MOST_UNREPLIED_BYTES = 32L << 20;
    private static final int LONG_BYTES = 5_000;
    private static final long SEED = 20_240_607;

    private final Nodes nodes;
    private final List<Integer> requested = Collections.synchronizedList(new ArrayList<>());
    private final List<Integer> replied = Collections.synchronizedList(new ArrayList<>());
    private final List<CompletableFuture<?>> replies = new ArrayList<>();
    private final Random random = new Random(SEED);

    LinkOrderTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private NodeConfig config(final String name, final HandlerThreads handlers) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, 16, 8, Nodes.MAX_MESSAGE_BYTES, 1 << 24, 10_000, Nodes.CLOSE_MS,
            PollerConfig.own(handlers), false);
    }

    private CompletableFuture<MessageLite> echo(final MessageType type, final MessageLite request) {
        requested.add(number(((RaftClientRequestProto) request).getMessage().getContent()));
        return Nodes.echo(type, request);
    }

    private static int number(final ByteString content) {
        return content.isEmpty() ? -1 : content.asReadOnlyByteBuffer().getInt();
    }

    private static ByteString numbered(final int number, final int lengthBytes) {
        return UnsafeByteOperations.unsafeWrap(ByteBuffer.allocate(Math.max(Integer.BYTES, lengthBytes)).putInt(0, number));
    }

    private void request(final Link link, final ByteString content) {
        replies.add(link.request(MessageType.CLIENT_REQUEST, Nodes.request(content)).future()
            .thenAccept(reply -> replied.add(number(((RaftClientReplyProto) reply).getMessage().getContent()))));
    }

    private void awaitReplies() throws Exception {
        for (final CompletableFuture<?> reply : replies) {
            reply.get(30, TimeUnit.SECONDS);
        }
    }

    /** Mostly short, some long, few of several reads. */
    private int anyLength() {
        final int kind = random.nextInt(40);
        return kind == 0 ? random.nextInt(6 << 20) : kind < 10 ? random.nextInt(300_000) : random.nextInt(Nodes.BUFFER_BYTES);
    }

    @ParameterizedTest
    @EnumSource
    void shouldDeliverMessagesOfMixedLengthsInTheOrderOfSending(final HandlerThreads handlers) throws Exception {
        final Nodes.Server server = nodes.server(config("server", handlers), this::echo);
        final Link link =
            Nodes.connect(nodes.node(config("client", handlers), Nodes::echo, new TransportCounters()), server.port());
        final List<Integer> sent = new ArrayList<>();
        final AtomicLong unreplied = new AtomicLong();
        for (int i = 0; i < MESSAGES; i++) {
            final ByteString content = random.nextInt(20) == 0 ? ByteString.EMPTY : numbered(i, anyLength());
            sent.add(number(content));
            // Below the bound of a link, for all lengths that are drawn.
            Nodes.await("room for " + content.size() + " bytes", () -> unreplied.get() < MOST_UNREPLIED_BYTES);
            unreplied.addAndGet(content.size());
            request(link, content);
            replies.getLast().whenComplete((reply, failure) -> unreplied.addAndGet(-content.size()));
        }
        awaitReplies();
        assertEquals(sent, requested);
        assertEquals(sent, replied, "replies to requests that were served in order");
        assertEquals(0, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    /** A request with a handler that blocks the thread that delivers; the others are served. */
    private RequestHandler blockingAt(final int blocked, final CountDownLatch unblocked) {
        return (type, request) -> {
            final CompletableFuture<MessageLite> reply = echo(type, request);
            if (requested.getLast() == blocked) {
                Uninterruptibles.awaitUninterruptibly(unblocked);
            }
            return reply;
        };
    }

    /** From nothing to the default limit of messages: in frames, in one read or several, on handlers' threads or others. */
    @ParameterizedTest
    @EnumSource
    void shouldDeliverAllLengthsUpTo64MegabytesInTheOrderOfSending(final HandlerThreads handlers) throws Exception {
        final int longest = 64 << 20;
        final int[] lengths = {0, longest, 1, LongMessageThreads.INLINE_BYTES, 0, Landing.MAX_READ_BYTES + 1, 100, longest - 1,
            Nodes.BUFFER_BYTES, 3 * Landing.MAX_READ_BYTES, 2, LongMessageThreads.INLINE_BYTES / 2, 0};
        final NodeConfig[] configs = new NodeConfig[2];
        Arrays.setAll(configs, i -> new NodeConfig("node-" + i, Nodes.BUFFER_BYTES, 16, 8, longest + 1_000, 0, 10_000,
            Nodes.CLOSE_MS, PollerConfig.own(handlers), false));
        final List<Integer> received = Collections.synchronizedList(new ArrayList<>());
        final Nodes.Server server = nodes.server(configs[0], (type, request) -> {
            received.add(((RaftClientRequestProto) request).getMessage().getContent().size());
            return Nodes.echo(type, Nodes.request(ByteString.EMPTY));
        });
        final Link link = Nodes.connect(nodes.node(configs[1], Nodes::echo, new TransportCounters()), server.port());
        final ByteString content = UnsafeByteOperations.unsafeWrap(new byte[longest]);
        for (final int length : lengths) {
            request(link, content.substring(0, length));
        }
        awaitReplies();
        assertEquals(Arrays.stream(lengths).boxed().toList(), received);
        assertEquals(0, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    /** The receives of the server's thread go on while its other thread delivers a long message. */
    @Test
    void shouldReturnTheCreditsOfWaitingMessagesWithTheirDelivery() throws Exception {
        final CountDownLatch unblocked = new CountDownLatch(1);
        final Nodes.Server server =
            nodes.server(Nodes.config("server", HandlerThreads.PARALLEL), blockingAt(0, unblocked));
        try (RawPeer peer = new RawPeer(server.port(), 2 * Nodes.CREDITS); LocalMemoryRegion region = advertised(peer, 0)) {
            peer.advertise(0, LONG_BYTES, new Advertisement(0, 70, region.descriptor()));
            assertEquals(0, peer.next().header().credits(), "credits before the request has been taken");
            Nodes.await("the first delivery", () -> requested.size() == 1);
            for (int i = 1; i < Nodes.CREDITS; i++) {
                peer.request(i, Nodes.request(numbered(i, Integer.BYTES)));
            }
            Nodes.await("all frames", () -> server.counters().value(Count.FRAMES_RECEIVED) == Nodes.CREDITS);
            assertEquals(0, server.counters().value(Count.CREDIT_FRAMES_SENT));
            assertEquals(List.of(0), requested);
            unblocked.countDown();
            for (int i = 0; i < Nodes.CREDITS; i++) {
                assertEquals(i, peer.next().header().correlationId());
            }
            assertEquals(IntStream.range(0, Nodes.CREDITS).boxed().toList(), requested);
        }
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsMoreThanMayWait() throws Exception {
        final CountDownLatch unblocked = new CountDownLatch(1);
        final Nodes.Server server =
            nodes.server(Nodes.config("server", HandlerThreads.PARALLEL), blockingAt(0, unblocked));
        try (RawPeer peer = new RawPeer(server.port(), 2 * Nodes.CREDITS); LocalMemoryRegion region = advertised(peer, 0)) {
            server.awaitOpened(1);
            peer.advertise(0, LONG_BYTES, new Advertisement(0, 70, region.descriptor()));
            peer.next();
            Nodes.await("the first delivery", () -> requested.size() == 1);
            for (int i = 1; i <= Nodes.CREDITS + 1; i++) {
                peer.request(i, Nodes.request(numbered(i, Integer.BYTES)));
            }
            Nodes.await("the end", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 1);
            unblocked.countDown();
            Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
            assertEquals(List.of(0), requested);
        }
    }

    private static LocalMemoryRegion advertised(final RawPeer peer, final int number) {
        final LocalMemoryRegion region = peer.peer().allocate(LONG_BYTES, MemoryUsage.READ_SOURCE);
        final int overhead = Nodes.request(numbered(number, LONG_BYTES)).getSerializedSize() - LONG_BYTES;
        region.memory().asByteBuffer().put(Nodes.request(numbered(number, LONG_BYTES - overhead)).toByteArray());
        return region;
    }

    @ParameterizedTest
    @EnumSource
    void shouldSkipNoLongMessageThatCannotBeRead(final HandlerThreads handlers) throws Exception {
        final Nodes.Server server = nodes.server(config("server", handlers), this::echo);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS); LocalMemoryRegion valid = advertised(peer, 1);
            LocalMemoryRegion alsoValid = advertised(peer, 3)) {
            server.awaitOpened(1);
            final byte[] released;
            try (LocalMemoryRegion region = advertised(peer, 2)) {
                released = region.descriptor();
            }
            peer.request(0, Nodes.request(numbered(0, Integer.BYTES)));
            peer.advertise(1, LONG_BYTES, new Advertisement(0, 71, valid.descriptor()));
            peer.advertise(2, LONG_BYTES, new Advertisement(0, 72, released));
            peer.advertise(3, LONG_BYTES, new Advertisement(0, 73, alsoValid.descriptor()));
            peer.request(4, Nodes.request(numbered(4, Integer.BYTES)));
            Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
            assertFirstOf(List.of(0, 1), requested);
        }
    }

    /** Asserts that the delivered messages are the first ones of the sent messages. */
    private static void assertFirstOf(final List<Integer> sent, final List<Integer> delivered) {
        final List<Integer> received = List.copyOf(delivered);
        assertTrue(received.size() <= sent.size(), () -> received + " of " + sent);
        assertEquals(sent.subList(0, received.size()), received);
    }

    @ParameterizedTest
    @EnumSource
    void shouldDeliverTheFirstMessagesOfAConnectionThatEnds(final HandlerThreads handlers) throws Exception {
        final Nodes.Server server = nodes.server(config("server", handlers), this::echo);
        final Node client = nodes.node(config("client", handlers), Nodes::echo, new TransportCounters());
        final int messages = 60;
        final int rounds = TestDevice.isShort() ? 5 : 20;
        for (int round = 0; round < rounds; round++) {
            replies.clear();
            final Link link = Nodes.connect(client, server.port());
            final int ended = round + 1;
            server.awaitOpened(ended);
            // A message of an earlier round may still be on its way to the list.
            final int first = round * messages;
            final List<Integer> sent = IntStream.range(first, first + messages).boxed().toList();
            sent.forEach(i -> request(link, numbered(i, anyLength())));
            final int before = random.nextInt(sent.size());
            Nodes.await("some messages", () -> from(first, requested).size() >= before);
            link.fail(new IOException("enough"));
            Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == ended);
            assertFirstOf(sent, from(first, requested));
            assertFirstOf(sent, from(first, replied));
        }
    }

    private static List<Integer> from(final int first, final List<Integer> delivered) {
        return List.copyOf(delivered).stream().filter(number -> number >= first).toList();
    }

    @Test
    void shouldReadNoMoreLongMessagesThanItMayHold() throws Exception {
        final CountDownLatch unblocked = new CountDownLatch(1);
        final TransportCounters counters = new TransportCounters();
        final CompletableFuture<Long> readBefore = new CompletableFuture<>();
        final TransportCounters received = new TransportCounters();
        final int messages = 12;
        final Node server = nodes.node(config("server", HandlerThreads.POLLER), (type, request) -> {
            final CompletableFuture<MessageLite> reply = echo(type, request);
            if (requested.size() == 1) {
                Uninterruptibles.awaitUninterruptibly(unblocked);
            } else if (requested.size() == 2) {
                readBefore.complete(received.value(Count.RENDEZVOUS_RECEIVED));
            }
            return reply;
        }, received);
        final int port = Integer.parseInt(ConnectedPair.anyPort());
        server.listen(TestDevice.address(), port);
        final Link link = Nodes.connect(nodes.node(config("client", HandlerThreads.POLLER), Nodes::echo, counters), port);
        request(link, numbered(0, Integer.BYTES));
        // The first one takes several reads, during which the others could be read.
        request(link, numbered(1, Nodes.MAX_MESSAGE_BYTES - 100));
        for (int i = 2; i < messages; i++) {
            request(link, numbered(i, LONG_BYTES));
        }
        Nodes.await("all on their way", () -> counters.value(Count.RENDEZVOUS_SENT) == messages - 1);
        unblocked.countDown();
        awaitReplies();
        // The one that is being delivered, and those that wait for it.
        assertTrue(readBefore.get() <= 1 + Rendezvous.MAX_LANDINGS, readBefore::toString);
    }
}
