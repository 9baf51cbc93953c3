package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that stop without a disconnect, and peers that are only slow. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class KeepaliveTest {
    /** Shorter than the waits of the tests, longer than the time for which a busy machine may stop a live peer. */
    private static final PeerBounds FAIR = PeerBounds.DEFAULT.withKeepalive(100, 4_000);
    private static final PeerBounds PATIENT = PeerBounds.DEFAULT.withKeepalive(100, 40_000);

    private final Nodes nodes;

    KeepaliveTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private Nodes.Server server(final PeerBounds bounds, final RequestHandler requests) throws IOException {
        return nodes.server(Nodes.config("server", HandlerThreads.POLLER).with(bounds), requests);
    }

    @Test
    void shouldReleaseTheConnectionOfAPeerThatAnswersNothing() throws Exception {
        final Nodes.Server server = server(FAIR, Nodes::echo);
        // Its device works and acknowledges everything, as that of a stopped process does.
        try (RawPeer silent = new RawPeer(server.port(), Nodes.CREDITS)) {
            assertEquals(FrameKind.PING, silent.nextOfAnyKind().header().kind());
            assertEquals(ConnectionEvent.CLOSED, silent.awaitEvent());
            Nodes.await("its release", server.node()::hasNoLinks);
        }
        assertEquals(1, server.counters().value(Count.PEERS_LOST));
        assertEquals(1, server.counters().value(Count.CONNECTIONS_CLOSED));
    }

    @Test
    void shouldFailRequestsToAPeerThatHasStopped() throws Exception {
        final CountDownLatch stopped = new CountDownLatch(1);
        final CountDownLatch resumes = new CountDownLatch(1);
        final Nodes.Server server = server(PATIENT, (type, request) -> {
            stopped.countDown();
            // The thread that would answer a ping.
            Uninterruptibles.awaitUninterruptibly(resumes);
            return Nodes.echo(type, request);
        });
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(Nodes.config("client", HandlerThreads.POLLER).with(FAIR), Nodes::echo, counters);
        final Link link = Nodes.connect(client, server.port());
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(10));
        stopped.await();
        try {
            final ExecutionException failure =
                assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS));
            assertInstanceOf(AlreadyClosedException.class, failure.getCause());
            assertFalse(link.isOpen());
            Nodes.await("the release of the connection", client::hasNoLinks);
            assertEquals(1, counters.value(Count.PEERS_LOST));
        } finally {
            resumes.countDown();
        }
    }

    @Test
    void shouldKeepAPeerThatAnswersNoRequestButPings() throws Exception {
        final CompletableFuture<MessageLite> later = new CompletableFuture<>();
        final Nodes.Server server = server(PATIENT, (type, request) -> later);
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(
            Nodes.config("client", HandlerThreads.POLLER).with(PeerBounds.DEFAULT.withKeepalive(50, 30_000)), Nodes::echo,
            counters);
        final Link link = Nodes.connect(client, server.port());
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(10));
        Nodes.await("some pings", () -> counters.value(Count.KEEPALIVES_SENT) >= 5);
        assertTrue(link.isOpen());
        assertFalse(reply.isDone());
        later.complete(Nodes.echo(MessageType.CLIENT_REQUEST, Nodes.request(ByteString.EMPTY)).join());
        assertEquals(ByteString.EMPTY, reply.get(30, TimeUnit.SECONDS));
        assertEquals(0, counters.value(Count.PEERS_LOST));
    }

    @Test
    void shouldAnswerPingsOfAPeerThatGrantsNoCredits() throws Exception {
        final Nodes.Server server = server(PATIENT, Nodes::echo);
        try (RawPeer peer = new RawPeer(server.port(), 1)) {
            // Two replies, of which one waits for a credit.
            peer.request(1, Nodes.request(ByteString.EMPTY));
            peer.request(2, Nodes.request(ByteString.EMPTY));
            assertEquals(1, peer.next().header().correlationId());
            for (int i = 0; i < 3; i++) {
                peer.ping();
                byte kind;
                do {
                    kind = peer.nextOfAnyKind().header().kind();
                } while (kind != FrameKind.PONG);
            }
        }
    }
}
