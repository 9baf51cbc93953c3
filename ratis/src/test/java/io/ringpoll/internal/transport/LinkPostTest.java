package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames that cannot be posted, or not now. The close of the nodes' devices checks that all memory is released. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LinkPostTest {
    private static final int LONG_BYTES = 5_000;
    private static final int MOST_BYTES = 3_000;

    private final Nodes nodes = new Nodes();
    private final TransportCounters counters = new TransportCounters();

    @AfterEach
    void close() {
        nodes.close();
    }

    private static NodeConfig config(final int bufferBytes, final int maxMessageBytes) {
        return new NodeConfig("client", bufferBytes, Nodes.CREDITS, 8, maxMessageBytes, 1 << 20, ConnectedPair.TIMEOUT_MS,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false);
    }

    private Node client() {
        return nodes.node(config(Nodes.BUFFER_BYTES, Nodes.MAX_MESSAGE_BYTES), Nodes::echo, counters);
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }

    /** The content of a request with a length. */
    private static ByteString contentFor(final int messageBytes) {
        final int overhead = Nodes.request(Nodes.random(messageBytes)).getSerializedSize() - messageBytes;
        final ByteString content = Nodes.random(messageBytes - overhead);
        assertEquals(messageBytes, Nodes.request(content).getSerializedSize());
        return content;
    }

    /** Takes all buffers but some, as if sends were in flight; returns the ids of these. */
    private static List<Long> take(final Link link, final int left) {
        final List<Long> ids = new ArrayList<>();
        synchronized (link) {
            while (link.sends().free() > left) {
                ids.add(link.sends().nextId());
                link.sends().onPosted(ids.getLast());
            }
        }
        return ids;
    }

    /** After the thread that ends connections has finished with a link. */
    private static void awaitEnd(final Node node, final int port) throws Exception {
        Nodes.await("its end", node::hasNoLinks);
        Nodes.connect(node, port);
    }

    @Test
    void shouldHaveTheNameOfItsPeer() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node client = client();
        final Link link = Nodes.connect(client, server.port());
        assertEquals("server", link.name());
        assertEquals("link 1 to server", link.toString());
        assertTrue(link.isOutbound());
        server.awaitOpened(1);
        assertFalse(server.node().link(1).isOutbound());
        assertEquals("link 2 to server", Nodes.connect(client, server.port()).toString());
    }

    @Test
    void shouldSendAMessageThatFillsABufferInAFrameAndALongerOneByRendezvous() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> Nodes.echo(type, Nodes.request(ByteString.EMPTY)));
        final Link link = Nodes.connect(client(), server.port());
        final int most = Nodes.BUFFER_BYTES - FrameHeader.LENGTH_BYTES;
        Nodes.reply(link, contentFor(most)).get(30, TimeUnit.SECONDS);
        assertEquals(0, counters.value(Count.RENDEZVOUS_SENT));
        Nodes.reply(link, contentFor(most + 1)).get(30, TimeUnit.SECONDS);
        assertEquals(1, counters.value(Count.RENDEZVOUS_SENT));
    }

    @Test
    void shouldUseNoMoreOfABufferThanThePeerHas() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final int half = Nodes.BUFFER_BYTES / 2;
        final TransportCounters ofLess = new TransportCounters();
        final Node less = nodes.node(config(half, Nodes.MAX_MESSAGE_BYTES), Nodes::echo, ofLess);
        Nodes.assertEchoed(Nodes.connect(less, server.port()), contentFor(half));
        assertEquals(1, ofLess.value(Count.RENDEZVOUS_SENT));
        Nodes.await("the reply by rendezvous", () -> server.counters().value(Count.RENDEZVOUS_SENT) == 1);
        final Node more = nodes.node(config(2 * Nodes.BUFFER_BYTES, Nodes.MAX_MESSAGE_BYTES), Nodes::echo, counters);
        Nodes.assertEchoed(Nodes.connect(more, server.port()), contentFor(Nodes.BUFFER_BYTES));
        assertEquals(1, counters.value(Count.RENDEZVOUS_SENT));
    }

    @Test
    void shouldSendAMessageUpToTheLimitOnly() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> Nodes.echo(type, Nodes.request(ByteString.EMPTY)));
        final Link link =
            Nodes.connect(nodes.node(config(Nodes.BUFFER_BYTES, MOST_BYTES), Nodes::echo, counters), server.port());
        Nodes.reply(link, contentFor(MOST_BYTES)).get(30, TimeUnit.SECONDS);
        final Throwable refusal = failureOf(Nodes.reply(link, contentFor(MOST_BYTES + 1)));
        assertTrue(refusal.getMessage().startsWith("a request CLIENT_REQUEST for server has 3001 bytes, over the limit of " +
            MOST_BYTES + " of client"), refusal.getMessage());
        assertTrue(link.isOpen());
    }

    @Test
    void shouldContinueAfterMessagesThatCannotBeWritten() throws Exception {
        final Link link = Nodes.connect(client(), nodes.server(Nodes::echo).port());
        final MessageLite unwritable = mock(MessageLite.class);
        when(unwritable.getSerializedSize()).thenReturn(10);
        doThrow(new UnsupportedOperationException("on purpose")).when(unwritable).writeTo(any(CodedOutputStream.class));
        // More messages than buffers and credits.
        for (int i = 0; i < 10 * Nodes.CREDITS; i++) {
            final Throwable failure = failureOf(link.request(MessageType.CLIENT_REQUEST, unwritable).future());
            assertTrue(failure.getMessage().contains("on purpose"), failure.getMessage());
        }
        assertTrue(link.isOpen());
        Nodes.assertEchoed(link, Nodes.random(10));
    }

    @Test
    void shouldLeaveTheMemoryOfAnUnsentMessageToTheCaller() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Node client = client();
        final Link link = Nodes.connect(client, server.port());
        // Has no descriptor for the peer.
        final RegionPool.Lease lease = client.landing().take(LONG_BYTES);
        assertThrows(NullPointerException.class, () -> link.enqueue(
            new Outgoing(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), 1, null, lease, LONG_BYTES, null)));
        lease.release();
        link.fail(new IOException("enough"));
        awaitEnd(client, server.port());
        assertDifferentRegions(client);
    }

    /** Memory that was released twice would belong to two messages. */
    private static void assertDifferentRegions(final Node node) {
        final RegionPool.Lease first = node.landing().take(LONG_BYTES);
        final RegionPool.Lease second = node.landing().take(LONG_BYTES);
        assertNotSame(first, second);
        first.release();
        second.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {10, LONG_BYTES})
    void shouldEndTheConnectionThatCannotSend(final int length) throws Exception {
        final Node client = client();
        final Link link = Nodes.connect(client, nodes.server(Nodes::echo).port());
        link.memory().region().close();
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(length));
        assertFalse(link.isOpen(), "not only at the next keepalive");
        final Throwable failure = failureOf(reply);
        assertInstanceOf(AlreadyClosedException.class, failure);
        assertTrue(failure.getMessage().contains("cannot send to server"), failure.getMessage());
        Nodes.await("its end", () -> counters.value(Count.CONNECTIONS_CLOSED) == 1);
    }

    @Test
    void shouldEndTheConnectionThatCannotSendAWaitingFrame() throws Exception {
        final Link link = Nodes.connect(client(), nodes.server(Nodes::echo).port());
        final List<Long> taken = take(link, 0);
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(LONG_BYTES));
        assertEquals(1, counters.value(Count.SENDS_DELAYED));
        link.memory().region().close();
        link.onSent(taken.getLast());
        assertFalse(link.isOpen(), "not only at the next keepalive");
        final Throwable failure = failureOf(reply);
        assertTrue(failure.getMessage().contains("cannot send to server"), failure.getMessage());
    }

    @Test
    void shouldReleaseTheMemoryOfAMessageForAClosedConnection() throws Exception {
        final Link link = Nodes.connect(client(), nodes.server(Nodes::echo).port());
        link.fail(new IOException("enough"));
        assertInstanceOf(AlreadyClosedException.class, failureOf(Nodes.reply(link, Nodes.random(LONG_BYTES))));
    }

    @Test
    void shouldReleaseTheMemoryOfWaitingMessagesAtTheEndOfTheConnection() throws Exception {
        final Link link = Nodes.connect(client(), nodes.server((type, request) -> new CompletableFuture<>()).port());
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < Nodes.CREDITS; i++) {
            replies.add(Nodes.reply(link, Nodes.random(10)));
        }
        take(link, 0);
        for (final int length : new int[] {LONG_BYTES, 10, LONG_BYTES}) {
            replies.add(Nodes.reply(link, Nodes.random(length)));
        }
        assertTrue(counters.value(Count.SENDS_DELAYED) >= 3);
        link.fail(new IOException("enough"));
        for (final CompletableFuture<ByteString> reply : replies) {
            assertInstanceOf(AlreadyClosedException.class, failureOf(reply));
        }
    }

    @Test
    void shouldReserveBuffersForCreditFrames() throws Exception {
        final Link link = Nodes.connect(client(), nodes.server(Nodes::echo).port());
        final List<Long> taken = take(link, NodeConfig.CONTROL_FRAMES + NodeConfig.URGENT_FRAMES);
        final CompletableFuture<ByteString> delayed = Nodes.reply(link, ByteString.EMPTY);
        assertEquals(1, counters.value(Count.SENDS_DELAYED));
        link.onSent(taken.getFirst());
        assertEquals(ByteString.EMPTY, delayed.get(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldReturnCreditsWhenABufferIsReleased() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS)) {
            server.awaitOpened(1);
            final Link link = server.node().link(1);
            final List<Long> taken = take(link, 0);
            for (int i = 0; i < Nodes.CREDITS; i++) {
                peer.request(i, Nodes.request(ByteString.EMPTY));
            }
            Nodes.await("all requests", () -> server.counters().value(Count.FRAMES_RECEIVED) == Nodes.CREDITS);
            assertEquals(0, server.counters().value(Count.CREDIT_FRAMES_SENT));
            link.onSent(taken.getLast());
            assertEquals(1, server.counters().value(Count.CREDIT_FRAMES_SENT));
        }
    }

    @Test
    void shouldAnswerAPingWhenABufferIsReleased() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS)) {
            server.awaitOpened(1);
            final Link link = server.node().link(1);
            final List<Long> taken = take(link, 0);
            peer.ping();
            Nodes.await("the ping", () -> server.counters().value(Count.FRAMES_RECEIVED) == 1 || !link.isOpen());
            assertTrue(link.isOpen());
            link.onSent(taken.getLast());
            assertEquals(FrameKind.PONG, peer.nextOfAnyKind().header().kind());
        }
    }

    /** A client that may have two requests without a reply. */
    private Node clientOfFewRequests() {
        return nodes.node(config(Nodes.BUFFER_BYTES, MOST_BYTES)
            .with(PeerBounds.DEFAULT.withQueues(2, 1 << 20, 2, 1 << 20, 1 << 20)), Nodes::echo, counters);
    }

    @Test
    void shouldNotCountARequestThatHasTimedOutAsUnanswered() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        final Link link = Nodes.connect(clientOfFewRequests(), server.port());
        final long timeoutNs = TimeUnit.HOURS.toNanos(1);
        for (int i = 0; i < 5; i++) {
            final Reply reply = link.request(MessageType.CLIENT_REQUEST, Nodes.request(ByteString.EMPTY), timeoutNs);
            link.expire(reply.sentNs() + timeoutNs + 1);
            assertInstanceOf(TimeoutException.class, failureOf(reply.future()));
        }
    }

    @Test
    void shouldNotCountARequestThatWasNotSentAsUnanswered() throws Exception {
        final Link link = Nodes.connect(clientOfFewRequests(), nodes.server(Nodes::echo).port());
        for (int i = 0; i < 5; i++) {
            assertInstanceOf(MessageTooLongException.class, failureOf(Nodes.reply(link, contentFor(MOST_BYTES + 1))));
        }
        Nodes.assertEchoed(link, Nodes.random(10));
        link.fail(new IOException("enough"));
        for (int i = 0; i < 5; i++) {
            assertInstanceOf(AlreadyClosedException.class, failureOf(Nodes.reply(link, Nodes.random(10))));
        }
    }

    /** The rest of its memory belongs to an earlier message. */
    @Test
    void shouldNotAdvertiseAMessageThatIsShorterThanItSays() throws Exception {
        final Node client = client();
        final MessageLite incomplete = mock(MessageLite.class);
        for (int i = 0; i < 3; i++) {
            assertThrows(IllegalStateException.class, () -> client.advertised(incomplete, LONG_BYTES));
        }
    }

    /** The first post is refused, as by a full queue; a frame from the peer causes the next attempt. */
    @Test
    void shouldSendARefusedFrameLater() throws Exception {
        for (final int length : new int[] {10, LONG_BYTES}) {
            final ByteString answer = Nodes.random(length);
            final Nodes.Server server = nodes.server((type, request) -> Nodes.echo(type, Nodes.request(answer)));
            final RawPeer peer;
            try (FaultInjection faults = FaultInjection.apply(FaultPlan.parse("full:2@1#2"))) {
                peer = new RawPeer(server.port(), Nodes.CREDITS);
                server.awaitOpened(1);
                assertEquals(0, faults.injected(0));
            }
            try (peer) {
                final int available = server.node().link(1).sends().free();
                peer.request(1, Nodes.request(ByteString.EMPTY));
                Nodes.await("the refusal", () -> server.counters().value(Count.SENDS_DELAYED) == 1);
                assertEquals(available, server.node().link(1).sends().free());
                peer.returnCredits(0);
                Nodes.await("the second refusal", () -> server.counters().value(Count.FRAMES_RECEIVED) == 2);
                assertEquals(0, server.counters().value(Count.FRAMES_SENT));
                peer.returnCredits(0);
                final Incoming reply = peer.next();
                assertEquals(1, reply.header().correlationId());
                assertEquals(length == LONG_BYTES, reply.header().isRendezvous());
            }
        }
    }
}
