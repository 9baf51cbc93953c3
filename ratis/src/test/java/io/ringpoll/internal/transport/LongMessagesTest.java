package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
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

/** Messages that take long to process, on threads of their own. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class LongMessagesTest {
    private static final int LONG_BYTES = 1 << 20;

    private final Nodes nodes;
    private final List<ByteString> received = Collections.synchronizedList(new ArrayList<>());

    LongMessagesTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private static NodeConfig config(final String name, final int credits, final HandlerThreads handlers) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, credits, 8, Nodes.MAX_MESSAGE_BYTES, Nodes.MAX_MESSAGE_BYTES,
            ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS, PollerConfig.own(handlers), false);
    }

    private static ByteString content(final MessageLite request) {
        return ((RaftClientRequestProto) request).getMessage().getContent();
    }

    private static ByteString get(final CompletableFuture<ByteString> reply) throws Exception {
        return reply.get(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldServeOtherConnectionsWhileALongRequestIsProcessed() throws Exception {
        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch unblocked = new CountDownLatch(1);
        final Nodes.Server server = nodes.server((type, request) -> {
            if (content(request).size() == LONG_BYTES) {
                arrived.countDown();
                Uninterruptibles.awaitUninterruptibly(unblocked);
            }
            return Nodes.echo(type, request);
        });
        final Node client = nodes.client();
        final Link busy = Nodes.connect(client, server.port());
        final Link other = Nodes.connect(client, server.port());
        final ByteString sent = Nodes.random(LONG_BYTES);
        final CompletableFuture<ByteString> reply = Nodes.reply(busy, sent);
        arrived.await();
        Nodes.assertEchoed(other, Nodes.random(10));
        Nodes.assertEchoed(other, Nodes.random(10_000));
        assertFalse(reply.isDone());
        unblocked.countDown();
        assertEquals(sent, get(reply));
    }

    @Test
    void shouldSendALongRequestOfAHandlerBeforeTheOnesBehindIt() throws Exception {
        final CompletableFuture<Void> registered = new CompletableFuture<>();
        final Nodes.Server server = nodes.server((type, request) -> {
            received.add(content(request));
            return registered.thenCompose(done -> Nodes.echo(type, request));
        });
        final Node client = nodes.client();
        final Link link = Nodes.connect(client, server.port());
        final List<ByteString> sent = List.of(Nodes.random(10), Nodes.random(LONG_BYTES), Nodes.random(11),
            Nodes.random(LONG_BYTES + 1), Nodes.random(5_000), Nodes.random(12));
        final CompletableFuture<List<CompletableFuture<ByteString>>> others = Nodes.reply(link, sent.getFirst())
            .thenApply(reply -> {
                assertTrue(client.isHandlerThread());
                return sent.stream().skip(1).map(content -> Nodes.reply(link, content)).toList();
            });
        registered.complete(null);
        final List<CompletableFuture<ByteString>> replies = others.get(30, TimeUnit.SECONDS);
        for (int i = 0; i < replies.size(); i++) {
            assertEquals(sent.get(i + 1), get(replies.get(i)));
        }
        assertEquals(sent, received);
    }

    /** The first message waits for its memory; at most four have memory at a time. */
    @ParameterizedTest
    @EnumSource
    void shouldKeepTheOrderAndABoundOfMessagesThatArriveWhileTheFirstIsRead(final HandlerThreads handlers) throws Exception {
        final int messages = 15;
        final int regionBytes = 256 * 1024;
        final Nodes.Server server = nodes.server(config("server", 32, handlers), (type, request) -> {
            received.add(content(request));
            return Nodes.echo(type, request);
        });
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(config("client", 32, handlers), Nodes::echo, counters);
        final Link link = Nodes.connect(client, server.port());
        server.awaitOpened(1);
        final CountDownLatch unblocked = new CountDownLatch(1);
        server.node().link(1).later(() -> Uninterruptibles.awaitUninterruptibly(unblocked));
        final List<ByteString> sent = new ArrayList<>();
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            // Short, long but parsed by a handler, and long.
            sent.add(Nodes.random(i % 3 == 0 ? regionBytes - 1_000 - i : i % 3 == 1 ? 100 : 60_000));
            replies.add(Nodes.reply(link, sent.getLast()));
        }
        Nodes.await("all at the server", () -> server.counters().value(Count.FRAMES_RECEIVED) >= messages);
        final List<ByteString> early = List.copyOf(received);
        unblocked.countDown();
        assertEquals(List.of(), early);
        for (int i = 0; i < messages; i++) {
            assertEquals(sent.get(i), get(replies.get(i)), "reply " + i);
        }
        assertEquals(sent, received);
        // Regions that were in use simultaneously remain registered.
        final long cached = server.node().landing().cachedBytes();
        assertTrue(cached <= Rendezvous.MAX_LANDINGS * (long) regionBytes, cached + " bytes");
    }

    @Test
    void shouldCloseANodeOnAThreadForLongMessages() throws Exception {
        final CompletableFuture<Void> registered = new CompletableFuture<>();
        final Nodes.Server server =
            nodes.server((type, request) -> registered.thenCompose(done -> Nodes.echo(type, request)));
        final Node client = nodes.client();
        final Link link = Nodes.connect(client, server.port());
        final CompletableFuture<Boolean> closed = Nodes.reply(link, Nodes.random(LONG_BYTES)).thenApply(reply -> {
            final boolean own = client.longMessages().isCurrentThread();
            client.close();
            return own;
        });
        registered.complete(null);
        assertTrue(closed.get(Nodes.CLOSE_MS / 2, TimeUnit.MILLISECONDS));
    }
}
