package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that are alive, and do not read their replies. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class UnreadRepliesTest {
    private static final int REGION_BYTES = 64 * 1024;
    private static final int LONG = REGION_BYTES / 2;
    /** Regions of all clients. */
    private static final int MOST = 3;
    private static final int SHORT_MS = 1_000;
    private static final int LONG_MS = 600_000;
    /** Has a short reply. */
    private static final ByteString BRIEF = ByteString.copyFromUtf8("brief");
    /** Has a reply that a thread for long messages writes. */
    private static final ByteString HUGE = ByteString.copyFromUtf8("huge");
    private static final int HUGE_BYTES = 2 * LongMessageThreads.INLINE_BYTES;
    /** Has no reply yet. */
    private static final ByteString SLOW = ByteString.copyFromUtf8("slow");

    private final Nodes nodes;
    private final CompletableFuture<MessageLite> slow = new CompletableFuture<>();
    private Warnings warnings;

    UnreadRepliesTest(final RdmaApi api) {
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

    private CompletableFuture<? extends MessageLite> serve(final MessageType type, final MessageLite request) {
        final ByteString content = ((RaftClientRequestProto) request).getMessage().getContent();
        if (content.equals(SLOW)) {
            return slow;
        }
        return Nodes.echo(type,
            content.equals(BRIEF) ? request : Nodes.request(Nodes.random(content.equals(HUGE) ? HUGE_BYTES : LONG)));
    }

    /** A server that takes the silence of the raw peers, which answer no ping. */
    private Nodes.Server server(final int timeoutMs, final long bytes) throws Exception {
        return nodes.server(Nodes.config("server", HandlerThreads.POLLER)
            .with(PeerBounds.DEFAULT.withKeepalive(100, LONG_MS).withReplies(timeoutMs, bytes)), this::serve);
    }

    private Link connect(final PeerRole role, final Nodes.Server server) throws Exception {
        final Node client = nodes.node(Nodes.config("client", HandlerThreads.POLLER)
            .with(new Access(role, "c1", null, null, AddressFilter.ANY)), Nodes::echo, new TransportCounters());
        return Nodes.connect(client, server.port());
    }

    private static int replyLength(final Link link) throws Exception {
        return Nodes.reply(link, ByteString.EMPTY).get(30, TimeUnit.SECONDS).size();
    }

    private static void assertRefused(final Exception failure) {
        assertInstanceOf(ResourceUnavailableException.class, failure);
    }

    private static void awaitRelease(final Nodes.Server server, final int unread) throws InterruptedException {
        Nodes.await("the release", () -> server.node().admission().replyBytes() == (long) unread * REGION_BYTES);
    }

    @Test
    void shouldRefuseLongRepliesWhileClientsHaveNotReadOthers() throws Exception {
        final Nodes.Server server = server(LONG_MS, MOST * REGION_BYTES);
        try (RawPeer silent = new RawPeer(server.port(), Nodes.CREDITS)) {
            final List<Integer> regions = new ArrayList<>();
            for (int i = 0; i < 2 * MOST; i++) {
                silent.request(i, Nodes.request(ByteString.EMPTY));
                final Incoming reply = silent.next();
                silent.returnCredits(1);
                if (i < MOST) {
                    assertNotNull(reply.advertisement(), "reply " + i);
                    regions.add(reply.advertisement().number());
                } else {
                    assertEquals(FrameKind.FAILURE, reply.header().kind(), "reply " + i);
                }
            }
            awaitRelease(server, MOST);
            final Link honest = connect(PeerRole.CLIENT, server);
            assertRefused((Exception) assertThrows(ExecutionException.class, () -> replyLength(honest)).getCause());
            Nodes.assertEchoed(honest, BRIEF);
            // The servers of the group need no room among the clients.
            assertEquals(LONG, replyLength(connect(PeerRole.SERVER, server)));
            silent.release(regions.getFirst());
            awaitRelease(server, MOST - 1);
            assertEquals(LONG, replyLength(honest));
        }
        awaitRelease(server, 0);
        assertEquals(MOST + 1, server.counters().value(Count.REPLIES_REFUSED));
        assertEquals(MOST + 1, server.counters().value(Count.MESSAGES_UNSENT));
        warnings.await("clients have not read others (raft.rdma.reply.bytes.max) (1 unsent)");
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatDoesNotReadALongReply() throws Exception {
        final Nodes.Server server = server(SHORT_MS, 1 << 30);
        final Link honest = connect(PeerRole.CLIENT, server);
        final CompletableFuture<ByteString> reply = Nodes.reply(honest, SLOW);
        try (RawPeer silent = new RawPeer(server.port(), Nodes.CREDITS)) {
            silent.request(1, Nodes.request(ByteString.EMPTY));
            assertNotNull(silent.next().advertisement());
            silent.returnCredits(1);
            assertEnded(silent, server);
        }
        // A reply that the engine has not made yet is no reply that waits.
        slow.complete(Nodes.echo(MessageType.CLIENT_REQUEST, Nodes.request(BRIEF)).join());
        assertEquals(BRIEF, reply.get(30, TimeUnit.SECONDS));
        assertEquals(LONG, replyLength(honest));
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatReturnsNoCreditForAReply() throws Exception {
        final Nodes.Server server = server(SHORT_MS, 1 << 30);
        try (RawPeer silent = new RawPeer(server.port(), 1)) {
            silent.request(1, Nodes.request(BRIEF));
            silent.request(2, Nodes.request(BRIEF));
            silent.next();
            assertEnded(silent, server);
        }
    }

    /** The short reply waits for the long one before it. */
    @Test
    void shouldNotCountTheTimeInWhichThisNodeWritesALongReply() throws Exception {
        final Nodes.Server server = server(SHORT_MS, 1 << 30);
        final Link honest = connect(PeerRole.CLIENT, server);
        server.awaitOpened(1);
        final CountDownLatch unblocked = new CountDownLatch(1);
        server.node().link(1).later(() -> Uninterruptibles.awaitUninterruptibly(unblocked));
        final CompletableFuture<ByteString> huge = Nodes.reply(honest, HUGE);
        final CompletableFuture<ByteString> brief = Nodes.reply(honest, BRIEF);
        TimeUnit.MILLISECONDS.sleep(2 * SHORT_MS);
        final boolean isOpen = honest.isOpen();
        unblocked.countDown();
        assertTrue(isOpen);
        assertEquals(HUGE_BYTES, huge.get(30, TimeUnit.SECONDS).size());
        assertEquals(BRIEF, brief.get(30, TimeUnit.SECONDS));
        assertEquals(0, server.counters().value(Count.REPLIES_UNREAD));
    }

    @Test
    void shouldCountTheWaitOfAWrittenReplyForACredit() throws Exception {
        final Nodes.Server server = server(SHORT_MS, 1 << 30);
        try (RawPeer silent = new RawPeer(server.port(), 1)) {
            silent.request(1, Nodes.request(BRIEF));
            silent.request(2, Nodes.request(HUGE));
            silent.next();
            assertEnded(silent, server);
        }
    }

    private void assertEnded(final RawPeer silent, final Nodes.Server server) throws InterruptedException {
        assertEquals(ConnectionEvent.CLOSED, silent.awaitEvent());
        warnings.await(" has not read a reply for " + SHORT_MS + " ms (raft.rdma.reply.timeout): its connection ends");
        assertEquals(1, server.counters().value(Count.REPLIES_UNREAD));
        assertEquals(0, server.counters().value(Count.PEERS_LOST));
        awaitRelease(server, 0);
    }
}
