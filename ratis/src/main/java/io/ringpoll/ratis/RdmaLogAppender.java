package io.ringpoll.ratis;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.rpc.CallId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.util.Timestamp;

/**
 * Keeps one follower's log like the leader's: one request at a time, with all entries that have come meanwhile in the next.
 *
 * <p>It takes the place of the engine's default, which until its change RATIS-2605 takes a follower's answer to a heartbeat for
 * the length of a log that is the same as the leader's: a follower with entries of an earlier term behind the point that was
 * compared then counts for the majority, and entries are committed that it does not have. Here only entries that the follower
 * has accepted count. Nor is a follower told of a commit beyond what the request itself compares: see {@link #bounded}. Runs on
 * the appender's own thread.
 */
final class RdmaLogAppender extends LogAppenderBase {
    private final RdmaServerRpc rpc;
    private final SnapshotSender snapshots;

    RdmaLogAppender(final RaftServer.Division server, final LeaderState leaderState, final FollowerInfo follower) {
        super(server, leaderState, follower);
        rpc = (RdmaServerRpc) getServerRpc();
        snapshots = new SnapshotSender(this);
    }

    @Override
    public long getCallId() {
        return CallId.get();
    }

    @Override
    public Comparator<Long> getCallIdComparator() {
        return CallId.getComparator();
    }

    @Override
    public void run() throws InterruptedException, IOException {
        while (isRunning()) {
            if (shouldSendAppendEntries() && !send() && isRunning()) {
                getServer().properties().rpcSleepTime().sleep();
            }
            if (isRunning() && !hasAppendEntries()) {
                getEventAwaitForSignal().await(getHeartbeatWaitTimeMs(), TimeUnit.MILLISECONDS);
            }
            getLeaderState().checkHealth(getFollower());
        }
    }

    /** Sends what the follower lacks most; false if it could not be reached, or can take nothing now. */
    private boolean send() throws IOException {
        try {
            final SnapshotSender.Need need = snapshots.send();
            if (need == SnapshotSender.Need.ENTRIES) {
                appendEntries();
            }
            return need != SnapshotSender.Need.TIME;
        } catch (final InterruptedIOException | RaftLogIOException e) {
            throw e;
        } catch (final IOException e) {
            // The transport has seen to the connection.
            LOG.debug("{}: the follower could not be reached", this, e);
            return false;
        }
    }

    private void appendEntries() throws IOException {
        final AppendEntriesRequestProto next = newAppendEntriesRequest(CallId.getAndIncrement(), false);
        if (next == null) {
            return;
        }
        final AppendEntriesRequestProto request = bounded(next);
        resetHeartbeatTrigger();
        final Timestamp sendTime = Timestamp.currentTime();
        getFollower().updateLastRpcSendTime(request.getEntriesCount() == 0);
        final AtomicReference<RuntimeException> failure = new AtomicReference<>();
        final AppendEntriesReplyProto reply = rpc.appendEntries(request, success -> {
            // At once, and not when this appender's thread has woken up: the commit waits for it.
            if (success.getResult() == AppendResult.SUCCESS) {
                try {
                    onSuccess(request, success, sendTime);
                } catch (final RuntimeException e) {
                    failure.set(e);
                }
            }
        });
        if (failure.get() != null) {
            throw failure.get();
        }
        if (reply.getResult() != AppendResult.SUCCESS) {
            onReply(reply, sendTime);
            onRefusal(request, reply);
            getLeaderState().onAppendEntriesReply(this, reply);
        }
    }

    private void onReply(final AppendEntriesReplyProto reply, final Timestamp sendTime) {
        getFollower().updateLastRpcResponseTime();
        getFollower().updateLastRespondedAppendEntriesSendTime(sendTime);
        getLeaderState().onFollowerCommitIndex(getFollower(), reply.getFollowerCommit());
    }

    /** On the thread of a handler, while the appender's own waits. */
    private void onSuccess(final AppendEntriesRequestProto request, final AppendEntriesReplyProto reply,
        final Timestamp sendTime) {
        onReply(reply, sendTime);
        final int entries = request.getEntriesCount();
        if (entries > 0) {
            final long lastIndex = request.getEntries(entries - 1).getIndex();
            getFollower().increaseNextIndex(lastIndex + 1);
            if (getFollower().updateMatchIndex(lastIndex)) {
                getLeaderState().onFollowerSuccessAppendEntries(getFollower());
            }
        }
        getLeaderState().onAppendEntriesReply(this, reply);
    }

    /**
     * A request without a previous entry compares nothing but the entries it brings, and the engine's followers take one more
     * for compared: told of a commit by a heartbeat, they commit a first entry that a leader before may have written, and
     * never again let go of it. So the commit that is told ends where the entries end.
     */
    static AppendEntriesRequestProto bounded(final AppendEntriesRequestProto request) {
        if (request.hasPreviousLog()) {
            return request;
        }
        final int entries = request.getEntriesCount();
        final long lastIndex = entries > 0 ? request.getEntries(entries - 1).getIndex() : RaftLog.INVALID_LOG_INDEX;
        return request.getLeaderCommit() <= lastIndex ? request : request.toBuilder().setLeaderCommit(lastIndex).build();
    }

    private void onRefusal(final AppendEntriesRequestProto request, final AppendEntriesReplyProto reply) {
        switch (reply.getResult()) {
            case NOT_LEADER -> onFollowerTerm(reply.getTerm());
            case INCONSISTENCY -> {
                final long firstIndex =
                    request.getEntriesCount() > 0 ? request.getEntries(0).getIndex() : RaftLog.INVALID_LOG_INDEX;
                getFollower().setNextIndex(getNextIndexForInconsistency(firstIndex, reply.getNextIndex()));
            }
            default -> LOG.warn("{}: the follower has answered {}", this, reply.getResult());
        }
    }
}
