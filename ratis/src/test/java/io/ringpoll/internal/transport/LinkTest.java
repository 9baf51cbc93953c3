package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests without a reply, and failed connections. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class LinkTest {
    private static final ByteString SLOW = ByteString.copyFromUtf8("slow");
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LONG_NS = TimeUnit.HOURS.toNanos(1);

    private final RdmaApi api;
    private final Nodes nodes;
    private final ConcurrentLinkedQueue<CompletableFuture<MessageLite>> unanswered = new ConcurrentLinkedQueue<>();

    LinkTest(final RdmaApi api) {
        this.api = api;
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private Nodes.Server serverThatIsSlow() throws IOException {
        // Enough credits that no credit frame is sent, which would count as a sign of life.
        final NodeConfig config = new NodeConfig("slow", Nodes.BUFFER_BYTES, 32, 8, Nodes.MAX_MESSAGE_BYTES, 0, 10_000,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false);
        return nodes.server(config, (type, request) -> {
            if (!((RaftClientRequestProto) request).getMessage().getContent().equals(SLOW)) {
                return Nodes.echo(type, request);
            }
            final CompletableFuture<MessageLite> reply = new CompletableFuture<>();
            unanswered.add(reply);
            return reply;
        });
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }

    private static Reply request(final Link link, final ByteString content, final long timeoutNs) {
        return link.request(MessageType.CLIENT_REQUEST, Nodes.request(content), timeoutNs);
    }

    @Test
    void shouldKeepAConnectionWithOneSlowRequest() throws Exception {
        final Nodes.Server server = serverThatIsSlow();
        final Link link = Nodes.connect(nodes.client(), server.port());
        final Reply slow = request(link, SLOW, LONG_NS);
        Nodes.assertEchoed(link, Nodes.random(10));
        link.expire(slow.sentNs() + LONG_NS);
        assertFalse(slow.future().isDone());
        link.expire(slow.sentNs() + LONG_NS + 1);
        assertInstanceOf(TimeoutException.class, failureOf(slow.future()));
        assertTrue(link.isOpen());
        // A reply without a waiting request is dropped.
        unanswered.remove().complete(RaftClientReplyProto.getDefaultInstance());
        Nodes.assertEchoed(link, Nodes.random(10));
        assertEquals(0, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    @Test
    void shouldKeepASilentConnectionAfterTheTimeOutOfARequest() throws Exception {
        final Link link = Nodes.connect(nodes.client(), serverThatIsSlow().port());
        final Reply patient = request(link, SLOW, Reply.NO_TIMEOUT);
        final long startNs = System.nanoTime();
        final Reply slow = request(link, SLOW, SHORT_NS);
        assertInstanceOf(TimeoutException.class, failureOf(slow.future()));
        assertTrue(System.nanoTime() - startNs >= SHORT_NS);
        assertTrue(link.isOpen());
        assertFalse(patient.future().isDone());
        unanswered.forEach(reply -> reply.complete(RaftClientReplyProto.getDefaultInstance()));
        assertEquals(RaftClientReplyProto.getDefaultInstance(), patient.future().get(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldDropACancelledReply() throws Exception {
        final Link link = Nodes.connect(nodes.client(), serverThatIsSlow().port());
        final Reply cancelled = request(link, SLOW, LONG_NS);
        Nodes.await("the request at the server", () -> !unanswered.isEmpty());
        cancelled.cancel();
        unanswered.remove().complete(RaftClientReplyProto.getDefaultInstance());
        Nodes.assertEchoed(link, Nodes.random(10));
        link.expire(cancelled.sentNs() + LONG_NS + 1);
        assertFalse(cancelled.future().isDone());
    }

    @Test
    void shouldEndTheConnectionOfARequestWithAThrowingHandler() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> {
            throw new IllegalStateException("on purpose");
        });
        final Link link = Nodes.connect(nodes.client(), server.port());
        server.awaitOpened(1);
        assertInstanceOf(AlreadyClosedException.class, failureOf(Nodes.reply(link, Nodes.random(10))));
        Nodes.await("its end at the server", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        // The poller's thread has survived it.
        assertTrue(Nodes.connect(nodes.client(), server.port()).isOpen());
    }

    @Test
    void shouldEndTheConnectionOfALongRequestWithAThrowingHandler() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> {
            throw new IllegalStateException("on purpose");
        });
        final Link link = Nodes.connect(nodes.client(), server.port());
        server.awaitOpened(1);
        assertInstanceOf(AlreadyClosedException.class, failureOf(Nodes.reply(link, Nodes.random(10_000))));
        Nodes.await("its end at the server", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        assertTrue(Nodes.connect(nodes.client(), server.port()).isOpen());
    }

    /** As when there is too little memory for a message: the next one must not be delivered instead. */
    @ParameterizedTest
    @ValueSource(ints = {10, 10_000})
    void shouldSkipNoMessageAfterAnError(final int lengthBytes) throws Exception {
        final AtomicInteger delivered = new AtomicInteger();
        final Nodes.Server server = nodes.server((type, request) -> {
            delivered.incrementAndGet();
            throw new OutOfMemoryError("on purpose");
        });
        final Link link = Nodes.connect(nodes.client(), server.port());
        server.awaitOpened(1);
        final CompletableFuture<ByteString> first = Nodes.reply(link, Nodes.random(lengthBytes));
        final CompletableFuture<ByteString> second = Nodes.reply(link, Nodes.random(10));
        assertInstanceOf(AlreadyClosedException.class, failureOf(first));
        assertInstanceOf(AlreadyClosedException.class, failureOf(second));
        Nodes.await("its end at the server", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        assertEquals(1, delivered.get());
        // The poller's thread has survived it.
        assertTrue(Nodes.connect(nodes.client(), server.port()).isOpen());
    }

    @Test
    void shouldFailOnlyTheRequestOfAReplyThatIsTooLong() throws Exception {
        final ByteString tooMuch = Nodes.random(Nodes.MAX_MESSAGE_BYTES + 1);
        final Nodes.Server server = nodes.server((type, request) ->
            ((RaftClientRequestProto) request).getMessage().getContent().equals(SLOW) ?
                Nodes.echo(type, Nodes.request(tooMuch)) : Nodes.echo(type, request));
        final Link link = Nodes.connect(nodes.client(), server.port());
        final Throwable failure = failureOf(Nodes.reply(link, SLOW));
        assertInstanceOf(MessageTooLongException.class, failure);
        assertTrue(failure.getMessage().startsWith("a reply to CLIENT_REQUEST for "), failure.getMessage());
        assertTrue(failure.getMessage().contains("over the limit of " + Nodes.MAX_MESSAGE_BYTES), failure.getMessage());
        assertEquals(1, server.counters().value(Count.MESSAGES_UNSENT));
        Nodes.assertEchoed(link, Nodes.random(10));
    }

    @Test
    void shouldRespectTheLowerLimitOfThePeer() throws Exception {
        final int limit = 100_000;
        final Nodes.Server server = nodes.server(new NodeConfig("server", Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, limit, 0, 10_000,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false), Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Link link = Nodes.connect(nodes.node("client", Nodes::echo, counters), server.port());
        final int overhead = Nodes.request(Nodes.random(limit)).getSerializedSize() - limit;
        Nodes.assertEchoed(link, Nodes.random(limit - overhead));
        final Throwable failure = failureOf(Nodes.reply(link, Nodes.random(limit - overhead + 1)));
        assertEquals(limit, assertInstanceOf(MessageTooLongException.class, failure).limitBytes());
        assertTrue(failure.getMessage().contains("of server"), failure.getMessage());
        assertEquals(1, counters.value(Count.MESSAGES_UNSENT));
        Nodes.assertEchoed(link, Nodes.random(10));
        assertEquals(0, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    @Test
    void shouldReportAFailureInOneFrame() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> CompletableFuture.failedFuture(
            new IOException("x".repeat(1_000), new IOException("y".repeat(1_000)))));
        final Link link = Nodes.connect(nodes.client(), server.port());
        final Throwable failure = failureOf(Nodes.reply(link, SLOW));
        assertTrue(failure.getMessage().startsWith("x".repeat(400)), failure.getMessage());
        assertEquals(0, server.counters().value(Count.RENDEZVOUS_SENT));
    }

    @Test
    void shouldCountMessagesAndBytesOnBothSides() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Link link = Nodes.connect(nodes.node("client", Nodes::echo, counters), server.port());
        long bytes = 0;
        for (final int length : new int[] {10, 5_000}) {
            final ByteString content = Nodes.random(length);
            bytes += Nodes.request(content).getSerializedSize();
            Nodes.assertEchoed(link, content);
        }
        assertEquals(bytes, counters.value(Count.BYTES_SENT));
        assertEquals(bytes, server.counters().value(Count.BYTES_RECEIVED));
        // Two requests, and the release of the long reply; replies, and the release of the long request.
        Nodes.await("all frames", () -> counters.value(Count.FRAMES_SENT) - counters.value(Count.CREDIT_FRAMES_SENT) == 3);
        Nodes.await("all frames", () -> server.counters().value(Count.FRAMES_RECEIVED) >= 3);
    }

    @Test
    void shouldEndAllConnectionsWhenTheirReceivesCannotBePolled() throws Exception {
        assumeTrue(api == RdmaApi.RPMA, "the fault replaces the function of a context, which a queue of verbs has read before");
        final Nodes.Server server = serverThatIsSlow();
        final Link link = Nodes.connect(nodes.client(), server.port());
        final CompletableFuture<ByteString> reply = Nodes.reply(link, SLOW);
        Nodes.await("the request at the server", () -> !unanswered.isEmpty());
        try (Peer device = Peer.ofLocal(TestDevice.address())) {
            PollFault.whileFailing(device.context(), () -> {
                unanswered.remove().complete(RaftClientReplyProto.getDefaultInstance());
                final Throwable failure = failureOf(reply);
                assertInstanceOf(AlreadyClosedException.class, failure);
                // Both nodes poll the device: the client finds out by its own poll, or by the end of the server's connection.
                final String reason = failure.getMessage();
                assertTrue(reason.contains("has failed with code") || reason.contains("the connection is CLOSED"), reason);
            });
        }
        assertFalse(link.isOpen());
    }
}
