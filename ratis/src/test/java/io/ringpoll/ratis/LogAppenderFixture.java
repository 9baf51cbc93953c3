package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.RETURNS_DEFAULTS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.Timestamp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.mockito.invocation.Invocation;
import org.mockito.invocation.InvocationOnMock;

/** An appender and its follower; the engine is mocked, and the test appends to its log. */
abstract class LogAppenderFixture {
    static final int LONG_MS = 200_000;
    private static final int SHORT_MS = 5;

    final RaftServer.Division server = mock(RaftServer.Division.class, RETURNS_DEEP_STUBS);
    final LeaderState leader = mock(LeaderState.class);
    final FollowerInfo follower = mock(FollowerInfo.class);
    /** Open. */
    final RaftLog log = mock(RaftLog.class, call -> isState(call) ? true : RETURNS_DEFAULTS.answer(call));
    final RdmaServerRpc rpc = mock(RdmaServerRpc.class);
    final AtomicLong logEnd = new AtomicLong();
    final AtomicLong followerNext = new AtomicLong();
    final BlockingQueue<Sent> sent = new LinkedBlockingQueue<>();
    final BlockingQueue<Runnable> forRequestThreads = new LinkedBlockingQueue<>();
    final CompletableFuture<Thread> setBack = new CompletableFuture<>();
    volatile StateMachineLogEntryProto entry = StateMachineLogEntryProto.getDefaultInstance();
    volatile boolean connected = true;
    volatile boolean broken;
    volatile long silenceMs;
    private final int window;
    RdmaLogAppender appender;

    /** A request in flight. */
    record Sent(AppendEntriesRequestProto request, Thread by, CompletableFuture<AppendEntriesReplyProto> reply) {
        int entries() {
            return request.getEntriesCount();
        }

        /** Replies when the appender waits for the reply. */
        void answer(final AppendResult result) {
            answer(result, 0);
        }

        void answer(final AppendResult result, final long followerCommit) {
            answer(result, followerCommit, 0);
        }

        void answer(final AppendResult result, final long followerCommit, final long nextIndex) {
            while (reply.getNumberOfDependents() == 0) {
                Thread.onSpinWait();
            }
            reply.complete(AppendEntriesReplyProto.newBuilder().setResult(result).setFollowerCommit(followerCommit)
                .setNextIndex(nextIndex).build());
        }
    }

    /** An entry in memory. */
    private record EntryOf(LogEntryProto proto) implements RaftLog.EntryWithData {
        @Override
        public int getSerializedSize() {
            return proto.getSerializedSize();
        }

        @Override
        public LogEntryProto getEntry(final TimeDuration timeout) {
            return proto;
        }
    }

    LogAppenderFixture(final int window) {
        this.window = window;
    }

    @BeforeEach
    void lead() throws IOException {
        final RaftProperties properties = new RaftProperties();
        RdmaAppendConfigKeys.setRequestsMax(properties, window);
        when(server.getRaftServer().getProperties()).thenReturn(properties);
        when(server.getRaftServer().getServerRpc()).thenReturn(rpc);
        when(server.getThreadGroup()).thenReturn(null);
        when(server.getInfo().isAlive()).thenReturn(true);
        when(server.getInfo().isLeader()).thenReturn(true);
        when(server.getStateMachine().getLatestSnapshot()).thenReturn(null);
        // No heartbeat interferes.
        when(server.properties().minRpcTimeoutMs()).thenReturn(LONG_MS);
        when(server.properties().rpcSleepTime()).thenReturn(TimeDuration.valueOf(SHORT_MS, TimeUnit.MILLISECONDS));
        when(server.getRaftLog()).thenReturn(log);
        when(log.getNextIndex()).thenAnswer(call -> logEnd.get());
        when(log.getTermIndex(anyLong())).thenAnswer(call -> TermIndex.valueOf(1, call.getArgument(0)));
        when(log.get(anyLong())).thenAnswer(call -> entry(call.getArgument(0)));
        when(log.getEntryWithData(anyLong())).thenAnswer(call -> new EntryOf(entry(call.getArgument(0))));
        when(follower.getId()).thenReturn(RaftPeerId.valueOf("s1"));
        when(follower.getNextIndex()).thenAnswer(call -> followerNext.get());
        doAnswer(call -> {
            followerNext.set(call.getArgument(0));
            return null;
        }).when(follower).increaseNextIndex(anyLong());
        doAnswer(call -> followerNext.accumulateAndGet(call.getArgument(0), Math::max)).when(follower)
            .updateNextIndex(anyLong());
        doAnswer(call -> {
            followerNext.set(call.getArgument(0));
            return setBack.complete(Thread.currentThread());
        }).when(follower).setNextIndex(anyLong());
        when(follower.updateMatchIndex(anyLong())).thenReturn(true);
        when(follower.getLastRpcResponseTime()).thenAnswer(call -> Timestamp.currentTime().addTimeMs(-silenceMs));
        when(follower.getLastHeartbeatSendTime()).thenAnswer(call -> Timestamp.currentTime().addTimeMs(-silenceMs));
        when(follower.getLastRpcSendTime()).thenReturn(Timestamp.currentTime());
        when(leader.newAppendEntriesRequestProto(any(), any(), any(), anyLong())).thenAnswer(call ->
            request(call.getArgument(1), call.getArgument(2)));
        when(rpc.isConnected(any())).thenAnswer(call -> connected);
        when(rpc.appendEntriesAsync(any())).thenAnswer(call -> {
            if (broken) {
                broken = false;
                throw new IOException("no connection");
            }
            final CompletableFuture<AppendEntriesReplyProto> reply = new CompletableFuture<>();
            sent.add(new Sent(call.getArgument(0), Thread.currentThread(), reply));
            return reply;
        });
        doAnswer(call -> forRequestThreads.add(call.getArgument(0))).when(rpc).executeOnRequestThread(any());
        appender = new RdmaLogAppender(server, leader, follower);
    }

    @AfterEach
    void stop() throws Exception {
        appender.stopAsync().get(30, TimeUnit.SECONDS);
    }

    /** A running appender asks whether the log is open, without its lock, from version 3.2.2; earlier logs lack the method. */
    private static boolean isState(final InvocationOnMock call) {
        return call.getMethod().getName().equals("isOpened");
    }

    /** Calls of the log that may wait for its lock. */
    List<Invocation> logAccesses() {
        return mockingDetails(log).getInvocations().stream().filter(call -> !isState(call)).toList();
    }

    static AppendEntriesRequestProto request(final List<LogEntryProto> entries, final TermIndex previous) {
        final AppendEntriesRequestProto.Builder request =
            AppendEntriesRequestProto.newBuilder().addAllEntries(entries).setLeaderCommit(-1);
        if (previous != null) {
            request.setPreviousLog(TermIndexProto.newBuilder().setTerm(previous.getTerm()).setIndex(previous.getIndex()));
        }
        return request.build();
    }

    LogEntryProto entry(final long index) {
        return LogEntryProto.newBuilder().setTerm(1).setIndex(index).setStateMachineLogEntry(entry).build();
    }

    Sent next() throws InterruptedException {
        final Sent next = sent.poll(30, TimeUnit.SECONDS);
        assertNotNull(next, "a request");
        return next;
    }

    void append() {
        logEnd.incrementAndGet();
        appender.notifyLogAppender();
    }

    /** A follower that has accepted its first request, sent by the appender's own thread. */
    Thread follow() throws InterruptedException {
        logEnd.set(1);
        appender.start();
        final Sent first = next();
        // Otherwise it may be the first to see the entries of the test.
        while (first.by().getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        first.answer(AppendResult.SUCCESS);
        return first.by();
    }

    /** Makes the follower need a snapshot that its state machine fetches: the log begins at 3. */
    void announceSnapshots() {
        final RaftProperties properties = new RaftProperties();
        RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, false);
        when(server.getRaftServer().getProperties()).thenReturn(properties);
        when(server.getMemberId())
            .thenReturn(RaftGroupMemberId.valueOf(RaftPeerId.valueOf("s0"), RaftGroupId.emptyGroupId()));
        final RaftConfiguration members = mock(RaftConfiguration.class);
        when(server.getRaftConf()).thenReturn(members);
        when(log.getStartIndex()).thenReturn(3L);
        appender = new RdmaLogAppender(server, leader, follower);
    }

    /** Waits until the appender's own thread has nothing to do. */
    static void awaitParked(final Thread own) {
        while (own.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    static StateMachineLogEntryProto withData(final int bytes) {
        return StateMachineLogEntryProto.newBuilder().setLogData(ByteString.copyFrom(new byte[bytes])).build();
    }
}
