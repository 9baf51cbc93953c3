package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.RequestHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogBase;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.AutoCloseableLock;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A follower of the engine that cannot store for a while: requests arrive while an earlier one is pending. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RepeatedAppendsTest {
    private static final RaftGroupId GROUP = RaftGroupId.randomId();
    private static final RaftPeer FOLLOWER = RaftPeer.newBuilder().setId("follower").build();
    private static final String A = "a";
    private static final String B = "b";
    private static final TimeDuration NO_ELECTION = TimeDuration.valueOf(1, TimeUnit.HOURS);

    @TempDir
    private Path folder;
    /** The disk stores when it is complete: until then entries are in the log, but pending. */
    private volatile CompletableFuture<Void> flushed = CompletableFuture.completedFuture(null);
    private RaftServer server;
    private RequestHandler handler;
    private RaftLog log;

    @BeforeEach
    void start() throws Exception {
        final RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.NETTY);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, NO_ELECTION);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, NO_ELECTION.multiply(2));
        final RaftGroup group = RaftGroup.valueOf(
            GROUP, FOLLOWER, RaftPeer.newBuilder().setId(A).build(), RaftPeer.newBuilder().setId(B).build());
        server = RaftServer.newBuilder().setServerId(FOLLOWER.getId()).setProperties(properties).setGroup(group)
            .setStateMachine(new BaseStateMachine() {
                @Override
                public CompletableFuture<Void> flush(final long index) {
                    return flushed;
                }
            }).build();
        server.start();
        log = server.getDivision(GROUP).getRaftLog();
        // On the calling thread, so that a request has been passed when the call returns.
        handler = new RequestDispatcher(server, Runnable::run, Runnable::run).forConnection();
        assertEquals(AppendResult.SUCCESS, answer(append(A, 1)).getResult());
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    /** Sends the entries from 0 on, of these terms. */
    private CompletableFuture<AppendEntriesReplyProto> append(final String leader, final long term, final long... terms) {
        return appendFrom(0, leader, term, terms);
    }

    private CompletableFuture<AppendEntriesReplyProto> appendFrom(
        final long firstIndex, final String leader, final long term, final long... terms) {
        return handler.handle(MessageType.APPEND_ENTRIES, request(firstIndex, leader, term, terms))
            .thenApply(AppendEntriesReplyProto.class::cast);
    }

    private static AppendEntriesRequestProto request(
        final long firstIndex, final String leader, final long term, final long... terms) {
        final AppendEntriesRequestProto.Builder request = AppendEntriesRequestProto.newBuilder().setLeaderTerm(term)
            .setLeaderCommit(-1).setServerRequest(RaftRpcRequestProto.newBuilder()
                .setRequestorId(RaftPeerId.valueOf(leader).toByteString()).setReplyId(FOLLOWER.getId().toByteString())
                .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString())));
        if (firstIndex > 0) {
            request.setPreviousLog(TermIndex.valueOf(term, firstIndex - 1).toProto());
        }
        long index = firstIndex;
        for (final long ofEntry : terms) {
            request.addEntries(LogEntryProto.newBuilder().setTerm(ofEntry).setIndex(index++).setStateMachineLogEntry(
                StateMachineLogEntryProto.newBuilder().setClientId(ClientId.randomId().toByteString())
                    .setLogData(ByteString.copyFromUtf8(leader))));
        }
        return request.build();
    }

    private static AppendEntriesReplyProto answer(final CompletableFuture<AppendEntriesReplyProto> reply) throws Exception {
        return reply.get(60, TimeUnit.SECONDS);
    }

    private List<Long> storedTerms() {
        return LongStream.range(0, log.getNextIndex()).map(index -> log.getTermIndex(index).getTerm()).boxed().toList();
    }

    /** The engine would confirm it with the pending one, and store entry 0 only. */
    @Test
    void shouldStoreAllEntriesOfALongerRequestThatRepeatsAPendingOne() throws Exception {
        flushed = new CompletableFuture<>();
        final CompletableFuture<AppendEntriesReplyProto> pending = append(A, 1, 1);
        final CompletableFuture<AppendEntriesReplyProto> longer = append(A, 1, 1, 1, 1);
        assertFalse(pending.isDone());
        flushed.complete(null);
        assertEquals(AppendResult.SUCCESS, answer(pending).getResult());
        assertEquals(2, answer(longer).getMatchIndex());
        assertEquals(List.of(1L, 1L, 1L), storedTerms());
    }

    /** The engine would confirm the entries of the new leader, and store those of the former one. */
    @Test
    void shouldStoreTheEntriesOfANewLeaderWhileThoseOfTheFormerOneArePending() throws Exception {
        flushed = new CompletableFuture<>();
        final CompletableFuture<AppendEntriesReplyProto> pending = append(A, 1, 1, 1);
        final CompletableFuture<AppendEntriesReplyProto> other = append(B, 2, 2, 2);
        assertFalse(pending.isDone());
        flushed.complete(null);
        answer(pending);
        assertEquals(1, answer(other).getMatchIndex());
        assertEquals(List.of(2L, 2L), storedTerms());
    }

    /**
     * The engine recognizes a leader under the server's lock, and appends the entries after it has released the lock. If the new
     * leader's request were processed meanwhile, the former leader's call would then replace entries that have been confirmed.
     */
    @Test
    void shouldStoreTheEntriesOfANewLeaderBehindACallOfTheFormerOneThatHasNotReturned() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            handler = new RequestDispatcher(server, threads, threads).forConnection();
            final CompletableFuture<AppendEntriesReplyProto> pending;
            final CompletableFuture<AppendEntriesReplyProto> other;
            try (AutoCloseableLock slow = ((RaftLogBase) log).writeLock()) {
                pending = append(A, 1, 1, 1);
                while (!isAppending()) {
                    TimeUnit.MILLISECONDS.sleep(1);
                }
                other = append(B, 2, 2, 2);
                // The other request may be processed now, if nothing holds it back.
                TimeUnit.MILLISECONDS.sleep(200);
            }
            answer(pending);
            assertEquals(AppendResult.SUCCESS, answer(other).getResult());
            // By the repetition, if the engine has stored it.
            TimeUnit.MILLISECONDS.sleep(200);
            assertEquals(List.of(2L, 2L), storedTerms());
        }
    }

    /** Whether a thread waits for the lock of the log in order to append. */
    private static boolean isAppending() {
        return Thread.getAllStackTraces().values().stream().flatMap(Arrays::stream)
            .anyMatch(frame -> frame.getClassName().endsWith(".SegmentedRaftLog") && frame.getMethodName().equals("appendImpl"));
    }

    @Test
    void shouldStoreRequestsThatAreUnderWayTogether() throws Exception {
        flushed = new CompletableFuture<>();
        final List<CompletableFuture<AppendEntriesReplyProto>> replies = appendOneByOne(5);
        flushed.complete(null);
        int stored = 0;
        while (stored < 5 && answer(replies.get(stored)).getResult() == AppendResult.SUCCESS) {
            assertEquals(stored, answer(replies.get(stored)).getMatchIndex());
            stored++;
        }
        if (hasIndexOfPendingEntries()) {
            assertEquals(5, stored);
        } else {
            // The others are refused, and a leader repeats them from there on.
            assertEquals(AppendResult.INCONSISTENCY, answer(replies.get(stored)).getResult());
            assertEquals(4, answer(appendFrom(stored, A, 1, LongStream.generate(() -> 1).limit(5 - stored).toArray()))
                .getMatchIndex());
        }
        assertEquals(List.of(1L, 1L, 1L, 1L, 1L), storedTerms());
    }

    private List<CompletableFuture<AppendEntriesReplyProto>> appendOneByOne(final int entries) {
        final List<CompletableFuture<AppendEntriesReplyProto>> replies = new ArrayList<>();
        for (int index = 0; index < entries; index++) {
            replies.add(appendFrom(index, A, 1, 1));
        }
        return replies;
    }

    /**
     * Whether the engine takes a request whose previous entry is pending, as from 3.2.0 on. Before, the previous entry must be in
     * the log, and an entry is added to the log when the one before it is stored.
     */
    private static boolean hasIndexOfPendingEntries() {
        try {
            Class.forName("org.apache.ratis.server.impl.ServerImplUtils$NavigableIndices");
            return true;
        } catch (final ClassNotFoundException e) {
            return false;
        }
    }

    /** Else their bytes would count as unanswered for ever, and the credit of the waiting one would be lost. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndTheRequestsOfAGroupThatIsRemovedWhileTheyArePending(final boolean byRequest) throws Exception {
        flushed = new CompletableFuture<>();
        final CompletableFuture<AppendEntriesReplyProto> pending = append(A, 1, 1);
        final AtomicInteger taken = new AtomicInteger();
        final CompletableFuture<? extends MessageLite> waiting =
            handler.handle(MessageType.APPEND_ENTRIES, request(0, A, 1, 1, 1), taken::incrementAndGet);
        assertEquals(0, taken.get());
        final GroupManagementRequest remove = GroupManagementRequest.newRemove(
            ClientId.randomId(), FOLLOWER.getId(), 1, GROUP, false, false);
        if (byRequest) {
            handler.handle(MessageType.GROUP_MANAGEMENT, ClientProtoUtils.toGroupManagementRequestProto(remove))
                .get(60, TimeUnit.SECONDS);
        } else {
            server.groupManagement(remove);
            addAnotherGroup();
        }
        assertThrows(ExecutionException.class, () -> answer(pending));
        assertThrows(ExecutionException.class, () -> waiting.get(60, TimeUnit.SECONDS));
        assertEquals(1, taken.get());
    }

    /** Adds a group, which gets a request. */
    private void addAnotherGroup() throws Exception {
        flushed = CompletableFuture.completedFuture(null);
        final RaftGroup other = RaftGroup.valueOf(RaftGroupId.randomId(), FOLLOWER, RaftPeer.newBuilder().setId(A).build());
        server.groupManagement(GroupManagementRequest.newAdd(ClientId.randomId(), FOLLOWER.getId(), 2, other));
        final AppendEntriesRequestProto toOther = request(0, A, 1, 1);
        handler.handle(MessageType.APPEND_ENTRIES, toOther.toBuilder().setServerRequest(toOther.getServerRequest().toBuilder()
            .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(other.getGroupId().toByteString()))).build())
            .get(60, TimeUnit.SECONDS);
    }
}
