package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.RequestHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.GroupMismatchException;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RequestDispatcherTest {
    private static final RaftGroupId GROUP = RaftGroupId.randomId();
    private static final RaftGroupMemberId MEMBER = RaftGroupMemberId.valueOf(RaftPeerId.valueOf("s"), GROUP);
    private static final ClientId CLIENT = ClientId.randomId();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<Long> asked = new CopyOnWriteArrayList<>();
    private final List<Thread> appendedBy = new CopyOnWriteArrayList<>();
    private final CountDownLatch unblocked = new CountDownLatch(1);
    private final RaftServer server = mock(RaftServer.class);
    private RequestHandler handler;
    private volatile RaftException refusal;
    private volatile Error error;
    private volatile CompletableFuture<RaftClientReply> pending;

    @BeforeEach
    void serve() throws Exception {
        // A group with a state machine that blocks in its first transaction.
        final RaftServer.Division group =
            mock(RaftServer.Division.class, withSettings().extraInterfaces(RaftClientAsynchronousProtocol.class));
        when(((RaftClientAsynchronousProtocol) group).submitClientRequestAsync(any())).thenAnswer(call -> {
            final RaftClientRequest request = call.getArgument(0);
            asked.add(request.getCallId());
            if (request.getCallId() == 0) {
                assertTrue(unblocked.await(30, TimeUnit.SECONDS));
            }
            if (error != null) {
                throw error;
            }
            if (pending != null) {
                return pending;
            }
            final RaftClientReply.Builder reply = RaftClientReply.newBuilder().setRequest(request);
            return CompletableFuture.completedFuture(
                refusal == null ? reply.setSuccess().build() : reply.setException(refusal).build());
        });
        when(server.getDivision(GROUP)).thenReturn(group);
        when(server.getGroupIds()).thenReturn(List.of(GROUP));
        when(server.getId()).thenReturn(MEMBER.getPeerId());
        handler = new RequestDispatcher(server, executor, executor).forConnection();
    }

    @AfterEach
    void stop() {
        unblocked.countDown();
        executor.shutdownNow();
    }

    @Test
    void shouldNeitherBlockOnTheEngineNorReorderRequests() throws Exception {
        final CompletableFuture<? extends MessageLite> first = ask(handler, 0);
        CompletableFuture<? extends MessageLite> last = first;
        for (int callId = 1; callId < 100; callId++) {
            last = ask(handler, callId);
        }
        assertFalse(first.isDone());
        assertFalse(last.isDone());
        unblocked.countDown();
        assertEquals(99, ((RaftClientReplyProto) last.get(30, TimeUnit.SECONDS)).getRpcReply().getCallId());
        assertTrue(first.isDone());
        for (int callId = 0; callId < 100; callId++) {
            assertEquals(callId, asked.get(callId));
        }
    }

    @Test
    void shouldFailTheRequestInWhichTheEngineThrowsAnErrorAndGoOn() throws Exception {
        error = new StackOverflowError("on purpose");
        final CompletableFuture<? extends MessageLite> failed = ask(handler, 1);
        final ExecutionException thrown = assertThrows(ExecutionException.class, () -> failed.get(30, TimeUnit.SECONDS));
        assertSame(error, thrown.getCause());
        error = null;
        assertEquals(2, ((RaftClientReplyProto) ask(handler, 2).get(30, TimeUnit.SECONDS)).getRpcReply().getCallId());
    }

    @Test
    void shouldNotMakeOneClientWaitForAnother() throws Exception {
        final CompletableFuture<? extends MessageLite> blocked = ask(handler, 0);
        handler.forConnection().handle(MessageType.CLIENT_REQUEST, ordered(ClientId.randomId(), 1, true, true))
            .get(30, TimeUnit.SECONDS);
        assertFalse(blocked.isDone());
    }

    /** The engine would append the second request of the next connection before that of the lost connection. */
    @Test
    void shouldProcessTheRequestsOfAClientOneAtATimeOverAllItsConnections() throws Exception {
        final CompletableFuture<? extends MessageLite> blocked = ask(handler, 0);
        final CompletableFuture<? extends MessageLite> waits = ask(handler, 1);
        while (asked.isEmpty()) {
            Thread.onSpinWait();
        }
        handler.onEnd();
        final RequestHandler next = handler.forConnection();
        ask(next, 2);
        final CompletableFuture<? extends MessageLite> last = ask(next, 3);
        unblocked.countDown();
        last.get(30, TimeUnit.SECONDS);
        assertTrue(blocked.isDone());
        // The engine processes none that has not started at the end of its connection.
        assertInstanceOf(AlreadyClosedException.class,
            assertThrows(ExecutionException.class, () -> waits.get(30, TimeUnit.SECONDS)).getCause());
        assertEquals(List.of(0L, 2L, 3L), asked);
        assertTrue(ask(handler, 4).handle((reply, failure) -> failure != null).get(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldForgetAClientWhoseLastConnectionHasEnded() throws Exception {
        final ClientQueues clients = new ClientQueues(executor);
        final RequestHandler root = new RequestDispatcher(server, executor, executor, clients);
        final RequestHandler first = root.forConnection();
        final RequestHandler second = root.forConnection();
        final RequestHandler silent = root.forConnection();
        ask(first, 1).get(30, TimeUnit.SECONDS);
        ask(second, 2).get(30, TimeUnit.SECONDS);
        assertEquals(1, clients.size());
        first.onEnd();
        silent.onEnd();
        ask(second, 3).get(30, TimeUnit.SECONDS);
        assertEquals(1, clients.size());
        second.onEnd();
        while (clients.size() != 0) {
            Thread.onSpinWait();
        }
        assertTrue(ask(silent, 4).isCompletedExceptionally());
        assertEquals(0, clients.size());
    }

    @Test
    void shouldReplyWithTheEnginesException() throws Exception {
        when(server.getDivision(GROUP)).thenThrow(new GroupMismatchException("not here"));
        final CompletableFuture<? extends MessageLite> reply = ask(handler, 1);
        final Throwable failure = assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
        assertInstanceOf(GroupMismatchException.class, failure);
    }

    @Test
    void shouldFailRequestsAfterTheServerHasClosed() {
        executor.shutdownNow();
        assertTrue(ask(handler, 1).isCompletedExceptionally());
        assertTrue(ask(handler, 2).isCompletedExceptionally());
    }

    /** Its credit returns then, and only once. */
    @Test
    void shouldReportEachRequestAsTakenBeforeItsEnd() throws Exception {
        final AtomicInteger taken = new AtomicInteger();
        final List<Integer> takenAtTheEnd = new CopyOnWriteArrayList<>();
        unblocked.countDown();
        for (int way = 0; way < 3; way++) {
            if (way == 1) {
                when(server.getDivision(GROUP)).thenThrow(new GroupMismatchException("not here"));
            } else if (way == 2) {
                executor.shutdownNow();
            }
            handler.handle(MessageType.CLIENT_REQUEST, request(way, RaftClientRequest.writeRequestType()), taken::incrementAndGet)
                .handle((reply, failure) -> takenAtTheEnd.add(taken.get())).get(30, TimeUnit.SECONDS);
        }
        assertEquals(List.of(1, 2, 3), takenAtTheEnd);
    }

    /** A leader does not wait for replies; the engine would refuse entries without the ones before. */
    @Test
    void shouldPassEntriesInOrderAndHeartbeatsAtOnce() throws Exception {
        final DivisionInfo info = mock(DivisionInfo.class);
        when(server.getDivision(GROUP).getInfo()).thenReturn(info);
        when(info.getLeaderId()).thenReturn(RaftPeerId.valueOf("leader"));
        when(server.appendEntriesAsync(any())).thenAnswer(call -> {
            final AppendEntriesRequestProto request = call.getArgument(0);
            final long index = request.getEntriesCount() == 0 ? -1 : request.getEntries(0).getIndex();
            if (index == 0) {
                assertTrue(unblocked.await(30, TimeUnit.SECONDS));
            }
            asked.add(index);
            return CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance());
        });
        final List<CompletableFuture<? extends MessageLite>> replies = new ArrayList<>();
        for (int index = 0; index < 100; index++) {
            replies.add(appendTo(handler, LogEntryProto.newBuilder().setIndex(index).build()));
            // The first one was passed while another server was the leader: those behind it must wait.
            when(info.isFollower()).thenReturn(true);
        }
        append(handler, "leader", 0);
        assertEquals(List.of(-1L), List.copyOf(asked));
        unblocked.countDown();
        for (final CompletableFuture<? extends MessageLite> reply : replies) {
            reply.get(30, TimeUnit.SECONDS);
        }
        assertEquals(LongStream.range(-1, 100).boxed().toList(), List.copyOf(asked));
    }

    /** A server became the leader between requests 1 and 2: 1 was stored after 2 and 3. */
    @Test
    void shouldRefuseLaterRequestsUntilTheClientStartsAgain() throws Exception {
        final RaftException[] reasons = {new LeaderNotReadyException(MEMBER), new NotLeaderException(MEMBER, null, List.of())};
        for (final RaftException reason : reasons) {
            asked.clear();
            refusal = reason;
            assertTrue(isRefused(ordered(1, false)));
            refusal = null;
            assertTrue(isRefused(ordered(2, false)));
            assertTrue(isRefused(ordered(3, false)));
            assertFalse(isRefused(ordered(1, true)));
            assertFalse(isRefused(ordered(2, false)));
            assertFalse(isRefused(ordered(3, false)));
            assertEquals(List.of(1L, 1L, 2L, 3L), asked);
        }
    }

    /** The client had received the refusal of request 1 only when it sent 1 and 4: 4 was stored before 2 and 3. */
    @Test
    void shouldRefuseANewRequestUntilAllRefusedOnesAreSentAgain() throws Exception {
        refusal = new LeaderNotReadyException(MEMBER);
        assertTrue(isRefused(ordered(1, false)));
        refusal = null;
        assertTrue(isRefused(ordered(2, false)));
        assertTrue(isRefused(ordered(3, false)));
        asked.clear();
        assertFalse(isRefused(ordered(1, true)));
        assertTrue(isRefused(ordered(4, false)));
        assertFalse(isRefused(ordered(2, true)));
        assertFalse(isRefused(ordered(3, false)));
        assertFalse(isRefused(ordered(4, false)));
        assertFalse(isRefused(ordered(6, false)));
        assertEquals(List.of(1L, 2L, 3L, 4L, 6L), asked);
    }

    @Test
    void shouldRefuseLaterRequestsWhenTheFirstOneIsRefusedAgain() throws Exception {
        refusal = new LeaderNotReadyException(MEMBER);
        assertTrue(isRefused(ordered(1, false)));
        assertTrue(isRefused(ordered(2, false)));
        assertTrue(isRefused(ordered(1, true)));
        refusal = null;
        assertTrue(isRefused(ordered(2, false)));
        assertFalse(isRefused(ordered(1, true)));
        assertFalse(isRefused(ordered(2, false)));
        assertEquals(List.of(1L, 1L, 1L, 2L), asked);
    }

    /** The engine throws while it starts, and fails the future of a request above its limit of pending writes. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldFailLaterRequestsUntilTheClientStartsAgain(final boolean throwing) throws Exception {
        final RaftServer.Division group = server.getDivision(GROUP);
        if (throwing) {
            when(server.getDivision(GROUP)).thenThrow(new ServerNotReadyException("starts"));
        } else {
            pending = CompletableFuture.failedFuture(new ResourceUnavailableException("too many"));
        }
        assertThrows(ExecutionException.class, () -> isRefused(ordered(1, false)));
        doReturn(group).when(server).getDivision(GROUP);
        pending = null;
        asked.clear();
        assertThrows(ExecutionException.class, () -> isRefused(ordered(2, false)));
        assertFalse(isRefused(ordered(1, true)));
        assertFalse(isRefused(ordered(2, false)));
        assertEquals(List.of(1L, 2L), asked);
    }

    /** A leader resigned, another one truncated the log, and the first one was elected again. */
    @Test
    void shouldRefuseLaterRequestsAfterAPendingOneHasLostItsLeader() throws Exception {
        pending = new CompletableFuture<>();
        final CompletableFuture<? extends MessageLite> first = handler.handle(MessageType.CLIENT_REQUEST, ordered(1, true));
        while (asked.isEmpty()) {
            Thread.onSpinWait();
        }
        pending.complete(RaftClientReply.newBuilder().setRequest(ClientProtoUtils.toRaftClientRequest(ordered(1, true)))
            .setException(new NotLeaderException(MEMBER, null, List.of())).build());
        first.get(30, TimeUnit.SECONDS);
        pending = null;
        assertTrue(isRefused(ordered(2, false)));
        assertFalse(isRefused(ordered(1, true)));
        assertFalse(isRefused(ordered(2, false)));
    }

    @Test
    void shouldRefuseNeitherUnorderedRequestsNorThoseOfAnotherSeriesOrClient() throws Exception {
        refusal = new NotLeaderException(MEMBER, null, List.of());
        assertTrue(isRefused(ordered(1, false)));
        refusal = null;
        assertFalse(isRefused(request(7, RaftClientRequest.writeRequestType())));
        assertFalse(isRefused(ordered(CLIENT, 2, false, false)));
        assertFalse(isRefused(ordered(ClientId.randomId(), 2, false, true)));
        assertTrue(isRefused(ordered(2, false)));
        assertFalse(isRefused(ordered(5, true)));
        assertFalse(isRefused(ordered(6, false)));
    }

    /** The numbers of the two series are independent. */
    @Test
    void shouldKeepTheRefusalOfASeriesWhenAnotherOneContinues() throws Exception {
        refusal = new NotLeaderException(MEMBER, null, List.of());
        assertTrue(isRefused(ordered(7, false)));
        refusal = null;
        assertFalse(isRefused(ordered(CLIENT, 1, true, false)));
        assertFalse(isRefused(ordered(CLIENT, 2, false, false)));
        assertTrue(isRefused(ordered(8, false)));
    }

    private boolean isRefused(final RaftClientRequestProto request) throws Exception {
        final RaftClientReply reply = ClientProtoUtils.toRaftClientReply((RaftClientReplyProto)
            handler.handle(MessageType.CLIENT_REQUEST, request).get(30, TimeUnit.SECONDS));
        return !reply.isSuccess();
    }

    private static RaftClientRequestProto ordered(final long number, final boolean first) {
        return ordered(CLIENT, number, first, true);
    }

    private static RaftClientRequestProto ordered(final ClientId client, final long number, final boolean first,
        final boolean toLeader) {
        final RaftClientRequest.Builder request = RaftClientRequest.newBuilder().setClientId(client).setGroupId(GROUP)
            .setCallId(number).setMessage(Message.EMPTY).setType(RaftClientRequest.writeRequestType())
            .setSlidingWindowEntry(ProtoUtils.toSlidingWindowEntry(number, first));
        return ClientProtoUtils.toRaftClientRequestProto(
            (toLeader ? request.setLeaderId(MEMBER.getPeerId()) : request.setServerId(MEMBER.getPeerId())).build());
    }

    private static void append(final RequestHandler handler, final String leader, final long term) throws Exception {
        handler.handle(MessageType.APPEND_ENTRIES, request(leader, term).build()).get(30, TimeUnit.SECONDS);
    }

    private static CompletableFuture<? extends MessageLite> appendTo(final RequestHandler handler, final LogEntryProto entry) {
        return handler.handle(MessageType.APPEND_ENTRIES, request("leader", 0).addEntries(entry).build());
    }

    private static AppendEntriesRequestProto.Builder request(final String leader, final long term) {
        return AppendEntriesRequestProto.newBuilder().setLeaderTerm(term)
            .setServerRequest(RaftRpcRequestProto.newBuilder().setRequestorId(RaftPeerId.valueOf(leader).toByteString())
                .setReplyId(MEMBER.getPeerId().toByteString())
                .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString())));
    }

    private static CompletableFuture<? extends MessageLite> ask(final RequestHandler handler, final long callId) {
        return ask(handler, callId, RaftClientRequest.writeRequestType());
    }

    private static CompletableFuture<? extends MessageLite> ask(final RequestHandler handler, final long callId,
        final RaftClientRequest.Type type) {
        return handler.handle(MessageType.CLIENT_REQUEST, request(callId, type));
    }

    private static RaftClientRequestProto request(final long callId, final RaftClientRequest.Type type) {
        return ClientProtoUtils.toRaftClientRequestProto(
            RaftClientRequest.newBuilder().setClientId(CLIENT).setServerId(RaftPeerId.valueOf("s")).setGroupId(GROUP)
                .setCallId(callId).setMessage(Message.EMPTY).setType(type).build());
    }
}
