package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PeerCountersTest {
    private static final int LONG_BYTES = 5_000;

    private final Nodes nodes = new Nodes();
    private final TransportCounters counters = new TransportCounters();
    private final PeerCounters server = counters.peer("server");

    @AfterEach
    void close() {
        nodes.close();
    }

    private Node client(final PeerRole role) {
        return nodes.node(Nodes.config("client", HandlerThreads.POLLER)
            .with(new Access(role, "s1", null, null, AddressFilter.ANY)), Nodes::echo, counters);
    }

    private static void await(final PeerCounters peer, final Figure figure, final long value) throws InterruptedException {
        Nodes.await(figure + " " + value, () -> peer.value(figure) == value);
    }

    @Test
    void shouldCountTheTrafficOfBothSides() throws Exception {
        final Nodes.Server remote = nodes.server(Nodes::echo);
        final Link link = Nodes.connect(client(PeerRole.SERVER), remote.port());
        for (final int length : new int[] {10, LONG_BYTES, 100}) {
            Nodes.assertEchoed(link, Nodes.random(length));
        }
        final PeerCounters us = remote.counters().peer("s1");
        assertEquals(3, server.value(Figure.REQUESTS_SENT));
        assertEquals(3, server.value(Figure.REPLIES));
        assertEquals(3, us.value(Figure.REQUESTS_RECEIVED));
        assertEquals(0, us.value(Figure.REQUESTS_SENT));
        assertTrue(server.value(Figure.LATENCY_NS) > 0);
        assertTrue(server.value(Figure.BYTES_SENT) > LONG_BYTES);
        assertEquals(server.value(Figure.BYTES_SENT), us.value(Figure.BYTES_RECEIVED));
        await(us, Figure.BYTES_SENT, server.value(Figure.BYTES_RECEIVED));
        for (final PeerCounters each : new PeerCounters[] {server, us}) {
            await(each, Figure.CONNECTIONS, 1);
            await(each, Figure.QUEUE_DEPTH, 0);
            await(each, Figure.REGISTERED_BYTES, 0);
            assertEquals(0, each.value(Figure.RECONNECTS));
        }
    }

    @Test
    void shouldShowWhatWaitsUntilTheEndOfTheConnection() throws Exception {
        final Nodes.Server remote = nodes.server(new RequestHandler() {
            @Override
            public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
                throw new UnsupportedOperationException("without a report");
            }

            @Override
            public CompletableFuture<? extends MessageLite> handle(
                final MessageType type, final MessageLite request, final Runnable taken) {
                return new CompletableFuture<>();
            }
        });
        final Node client = client(PeerRole.CLIENT);
        final Link link = Nodes.connect(client, remote.port());
        final List<CompletableFuture<?>> replies = new ArrayList<>();
        for (int i = 0; i < Nodes.CREDITS; i++) {
            replies.add(Nodes.reply(link, Nodes.random(10)));
        }
        for (int i = 1; i <= 5; i++) {
            replies.add(Nodes.reply(link, Nodes.random(LONG_BYTES)));
            assertEquals(i, server.value(Figure.QUEUE_DEPTH));
        }
        assertEquals(replies.size(), server.value(Figure.REQUESTS_SENT));
        assertEquals(0, server.value(Figure.REPLIES));
        await(remote.counters().peer(TransportCounters.CLIENTS), Figure.REQUESTS_RECEIVED, Nodes.CREDITS);
        link.fail(new IOException("enough"));
        assertEquals(0, server.value(Figure.QUEUE_DEPTH));
        await(server, Figure.CONNECTIONS, 0);
        Nodes.connect(client, remote.port());
        await(server, Figure.CONNECTIONS, 1);
        assertEquals(1, server.value(Figure.RECONNECTS));
    }

    @Test
    void shouldCountTheMemoryOfAMessageUntilThePeerHasReadIt() throws Exception {
        final CompletableFuture<Void> read = new CompletableFuture<>();
        final Nodes.Server remote = nodes.server(Nodes::echo);
        final Link link = Nodes.connect(client(PeerRole.CLIENT), remote.port());
        remote.awaitOpened(1);
        remote.node().link(1).later(read::join);
        final CompletableFuture<?> reply = Nodes.reply(link, Nodes.random(LongMessageThreads.INLINE_BYTES + 1));
        assertTrue(server.value(Figure.REGISTERED_BYTES) > LongMessageThreads.INLINE_BYTES);
        read.complete(null);
        reply.get(30, TimeUnit.SECONDS);
        await(server, Figure.REGISTERED_BYTES, 0);
        await(remote.counters().peer(TransportCounters.CLIENTS), Figure.REGISTERED_BYTES, 0);
    }

    @Test
    void shouldBoundTheNumberOfNamesThatPeersChoose() {
        final List<String> names = new ArrayList<>();
        counters.onPeer((name, peer) -> names.add(name));
        assertEquals(List.of("server"), names);
        assertSame(server, counters.peer("server"));
        assertSame(counters.peer("12345678901234567890"), counters.peer("1234567890123456789012"));
        assertSame(counters.peer("a b"), counters.peer("a\tb"));
        for (int i = 0; i < 100; i++) {
            counters.peer("n" + i);
        }
        assertSame(counters.peer("n98"), counters.peer("n99"));
        assertNotSame(counters.peer("n0"), counters.peer("n99"));
        assertEquals(65, names.size());
        assertEquals("others", names.getLast());
    }
}
