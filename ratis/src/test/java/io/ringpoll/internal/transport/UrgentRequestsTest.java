package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Votes and heartbeats during bulk transfers. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class UrgentRequestsTest {
    private static final int BULK = 10 * Nodes.CREDITS;
    private static final RequestVoteRequestProto VOTE = RequestVoteRequestProto.newBuilder().setCandidateTerm(7).build();
    private static final RequestVoteReplyProto VOTED = RequestVoteReplyProto.newBuilder().setTerm(7).build();
    private static final AppendEntriesRequestProto HEARTBEAT = AppendEntriesRequestProto.newBuilder().setLeaderTerm(7).build();
    private static final AppendEntriesReplyProto FOLLOWED = AppendEntriesReplyProto.newBuilder().setTerm(7).build();
    private static final AppendEntriesRequestProto ENTRIES =
        HEARTBEAT.toBuilder().addEntries(LogEntryProto.newBuilder().setIndex(3)).build();

    private final Nodes nodes;
    /** Bulk requests that the server has neither taken nor answered. */
    private final Queue<Runnable> untaken = new ConcurrentLinkedQueue<>();
    private final Queue<CompletableFuture<MessageLite>> unanswered = new ConcurrentLinkedQueue<>();
    private final Queue<CompletableFuture<MessageLite>> unansweredVotes = new ConcurrentLinkedQueue<>();
    private volatile boolean holdsVotes;

    UrgentRequestsTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private static NodeConfig config(final String name, final PeerBounds bounds) {
        return Nodes.config(name, HandlerThreads.POLLER).with(bounds)
            .with(new Access(PeerRole.SERVER, name, null, null, AddressFilter.ANY));
    }

    /** Answers votes and heartbeats, and takes no other request. */
    private final class Handler implements RequestHandler {
        @Override
        public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
            throw new UnsupportedOperationException("without a report");
        }

        @Override
        public CompletableFuture<? extends MessageLite> handle(
            final MessageType type, final MessageLite request, final Runnable taken) {
            final CompletableFuture<MessageLite> reply = new CompletableFuture<>();
            if (type == MessageType.REQUEST_VOTE) {
                taken.run();
                if (holdsVotes) {
                    unansweredVotes.add(reply);
                } else {
                    reply.complete(VOTED);
                }
            } else if (request.equals(HEARTBEAT)) {
                taken.run();
                reply.complete(FOLLOWED);
            } else {
                unanswered.add(reply);
                untaken.add(taken);
            }
            return reply;
        }
    }

    private Nodes.Server server() throws Exception {
        return nodes.server(config("server", PeerBounds.DEFAULT), new Handler());
    }

    private Link connect(final Nodes.Server server, final PeerBounds bounds) throws Exception {
        return Nodes.connect(nodes.node(config("client", bounds), new Handler(), new TransportCounters()), server.port());
    }

    private static MessageLite answer(final Link link, final MessageType type, final MessageLite request) throws Exception {
        return link.request(type, request).future().get(20, TimeUnit.SECONDS);
    }

    private static void assertAnswersUrgentOnes(final Link link) throws Exception {
        for (int i = 0; i < 3 * NodeConfig.URGENT_CREDITS; i++) {
            assertEquals(VOTED, answer(link, MessageType.REQUEST_VOTE, VOTE));
            assertEquals(FOLLOWED, answer(link, MessageType.APPEND_ENTRIES, HEARTBEAT));
        }
    }

    private void fill(final Link link, final int lengthBytes) throws Exception {
        for (int i = 0; i < BULK; i++) {
            Nodes.reply(link, Nodes.random(lengthBytes));
        }
        Nodes.await("all credits in use", () -> untaken.size() == Nodes.CREDITS);
    }

    @Test
    void shouldAnswerVotesAndHeartbeatsBesideAFullQueueOfBulkRequests() throws Exception {
        final Link link = connect(server(), PeerBounds.DEFAULT);
        fill(link, 500);
        assertAnswersUrgentOnes(link);
        assertEquals(Nodes.CREDITS, untaken.size());
    }

    @Test
    void shouldSendVotesOverTheBoundOfBulkRequests() throws Exception {
        final Link link = connect(server(), PeerBounds.DEFAULT.withQueues(BULK, 1_000, BULK, 1 << 20, 1 << 20));
        fill(link, 500);
        assertTrue(link.outbound().isFull());
        assertAnswersUrgentOnes(link);
    }

    /** The replies to bulk requests use up the credits of the other direction. */
    @Test
    void shouldAnswerVotesBesideAFullQueueInBothDirections() throws Exception {
        final Nodes.Server server = server();
        final Link link = connect(server, PeerBounds.DEFAULT);
        server.awaitOpened(1);
        final Link back = server.node().link(1);
        for (int i = 0; i < BULK; i++) {
            Nodes.reply(link, Nodes.random(500));
            Nodes.reply(back, Nodes.random(500));
        }
        Nodes.await("all credits in use", () -> untaken.size() == 2 * Nodes.CREDITS);
        assertAnswersUrgentOnes(link);
        assertAnswersUrgentOnes(back);
    }

    /** More at a time than have receives of their own, from both sides. */
    @Test
    void shouldAnswerManyVotesOfBothSidesAtOnce() throws Exception {
        final Nodes.Server server = server();
        final Link link = connect(server, PeerBounds.DEFAULT);
        server.awaitOpened(1);
        final Link back = server.node().link(1);
        fill(link, 500);
        final List<Reply> votes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            votes.add(link.request(MessageType.REQUEST_VOTE, VOTE));
            votes.add(back.request(MessageType.REQUEST_VOTE, VOTE));
        }
        for (final Reply vote : votes) {
            assertEquals(VOTED, vote.future().get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldDeliverAVoteBeforeALongMessageThatIsBeingRead() throws Exception {
        final Nodes.Server server = server();
        final Link link = connect(server, PeerBounds.DEFAULT);
        server.awaitOpened(1);
        final CountDownLatch unblocked = new CountDownLatch(1);
        server.node().link(1).later(() -> Uninterruptibles.awaitUninterruptibly(unblocked));
        Nodes.reply(link, Nodes.random(LongMessageThreads.INLINE_BYTES + 1));
        Nodes.reply(link, Nodes.random(10));
        Nodes.await("both", () -> server.counters().value(Count.FRAMES_RECEIVED) >= 2);
        assertAnswersUrgentOnes(link);
        assertEquals(0, untaken.size());
        unblocked.countDown();
        Nodes.await("both of them", () -> untaken.size() == 2);
    }

    /** An engine that hangs in one group must not delay the votes of others. */
    @Test
    void shouldSendFurtherVotesWhileManyHaveNoReply() throws Exception {
        final Link link = connect(server(), PeerBounds.DEFAULT);
        fill(link, 500);
        holdsVotes = true;
        final int most = 10 * NodeConfig.URGENT_CREDITS;
        final List<Reply> held = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            held.add(link.request(MessageType.REQUEST_VOTE, VOTE));
        }
        Nodes.await("the votes", () -> unansweredVotes.size() == most);
        holdsVotes = false;
        assertAnswersUrgentOnes(link);
        unansweredVotes.forEach(reply -> reply.complete(VOTED));
        for (final Reply vote : held) {
            assertEquals(VOTED, vote.future().get(20, TimeUnit.SECONDS));
        }
    }

    /** Nor may they fill the memory of the server. */
    @Test
    void shouldTakeNoMoreVotesThanTheBoundUntilSomeHaveAReply() throws Exception {
        final int bound = 6;
        final Link link = connect(nodes.server(
            config("server", PeerBounds.DEFAULT.withQueues(bound, 1 << 20, 100, 1 << 20, 1 << 20)), new Handler()),
            PeerBounds.DEFAULT);
        holdsVotes = true;
        final List<Reply> votes = new ArrayList<>();
        for (int i = 0; i < 20 * bound; i++) {
            votes.add(link.request(MessageType.REQUEST_VOTE, VOTE));
        }
        final int most = bound + NodeConfig.URGENT_CREDITS;
        Nodes.await("the votes within the bound", () -> unansweredVotes.size() >= most);
        TimeUnit.MILLISECONDS.sleep(200);
        assertEquals(most, unansweredVotes.size());
        holdsVotes = false;
        unansweredVotes.forEach(reply -> reply.complete(VOTED));
        for (final Reply vote : votes) {
            assertEquals(VOTED, vote.future().get(20, TimeUnit.SECONDS));
        }
        assertAnswersUrgentOnes(link);
    }

    @Test
    void shouldKeepTheOrderOfEntriesAndBulkRequests() throws Exception {
        assertFalse(MessageType.APPEND_ENTRIES.isUrgent(ENTRIES));
        assertTrue(MessageType.APPEND_ENTRIES.isUrgent(HEARTBEAT));
        assertFalse(MessageType.CLIENT_REQUEST.isUrgent(Nodes.request(ByteString.EMPTY)));
        final Link link = connect(server(), PeerBounds.DEFAULT);
        fill(link, 500);
        final Reply entries = link.request(MessageType.APPEND_ENTRIES, ENTRIES);
        assertAnswersUrgentOnes(link);
        assertFalse(entries.future().isDone());
    }

    private static FrameHeader urgent(final byte kind, final MessageType type, final long correlationId, final int length) {
        return new FrameHeader(kind, type.code(), FrameHeader.FLAG_URGENT, 0, correlationId, length, length);
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsBulkDataAsUrgent() throws Exception {
        final Nodes.Server server = server();
        final Hello hello =
            new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES, Nodes.MAX_MESSAGE_BYTES, PeerRole.SERVER, "raw", null, null);
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            peer.frame(urgent(FrameKind.REQUEST, MessageType.CLIENT_REQUEST, 1, 0), new byte[0]);
            Nodes.await("its end", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 1);
        }
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            // More credits than there are.
            peer.frame(new FrameHeader(FrameKind.CREDIT, (byte) 0, FrameHeader.FLAG_URGENT, 1, 0, 0, 0), new byte[0]);
            Nodes.await("its end", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 2);
        }
    }
}
