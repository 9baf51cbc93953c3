package io.ringpoll.ratis;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Comparator;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.rpc.CallId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.Timestamp;

/**
 * Keeps one follower's log like the leader's: one request at a time, with all entries that have come meanwhile in the next.
 *
 * <p>It takes the place of the engine's default, which until its change RATIS-2605 takes a follower's answer to a heartbeat for
 * the length of a log that is the same as the leader's: a follower with entries of an earlier term behind the point that was
 * compared then counts for the majority, and entries are committed that it does not have. Here only entries that the follower
 * has accepted count. Runs on the appender's own thread.
 */
final class RdmaLogAppender extends LogAppenderBase {
    RdmaLogAppender(final RaftServer.Division server, final LeaderState leaderState, final FollowerInfo follower) {
        super(server, leaderState, follower);
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

    /** Sends what the follower lacks most; false if it could not be reached. */
    private boolean send() throws IOException {
        try {
            final SnapshotInfo snapshot = shouldInstallSnapshot();
            if (snapshot != null) {
                installSnapshot(snapshot);
            } else {
                appendEntries();
            }
            return true;
        } catch (final InterruptedIOException | RaftLogIOException e) {
            throw e;
        } catch (final IOException e) {
            LOG.debug("{}: the follower could not be reached", this, e);
            getServerRpc().handleException(getFollowerId(), e, false);
            return false;
        }
    }

    private void appendEntries() throws IOException {
        final AppendEntriesRequestProto request = newAppendEntriesRequest(CallId.getAndIncrement(), false);
        if (request == null) {
            return;
        }
        resetHeartbeatTrigger();
        final Timestamp sendTime = Timestamp.currentTime();
        getFollower().updateLastRpcSendTime(request.getEntriesCount() == 0);
        final AppendEntriesReplyProto reply = getServerRpc().appendEntries(request);
        getFollower().updateLastRpcResponseTime();
        getFollower().updateLastRespondedAppendEntriesSendTime(sendTime);
        getLeaderState().onFollowerCommitIndex(getFollower(), reply.getFollowerCommit());
        handle(request, reply);
        getLeaderState().onAppendEntriesReply(this, reply);
    }

    private void handle(final AppendEntriesRequestProto request, final AppendEntriesReplyProto reply) {
        switch (reply.getResult()) {
            case SUCCESS -> {
                final int entries = request.getEntriesCount();
                if (entries > 0) {
                    final long lastIndex = request.getEntries(entries - 1).getIndex();
                    getFollower().increaseNextIndex(lastIndex + 1);
                    if (getFollower().updateMatchIndex(lastIndex)) {
                        getLeaderState().onFollowerSuccessAppendEntries(getFollower());
                    }
                }
            }
            case NOT_LEADER -> onFollowerTerm(reply.getTerm());
            case INCONSISTENCY -> {
                final long firstIndex =
                    request.getEntriesCount() > 0 ? request.getEntries(0).getIndex() : RaftLog.INVALID_LOG_INDEX;
                getFollower().setNextIndex(getNextIndexForInconsistency(firstIndex, reply.getNextIndex()));
            }
            default -> LOG.warn("{}: the follower has answered {}", this, reply.getResult());
        }
    }

    private void installSnapshot(final SnapshotInfo snapshot) throws IOException {
        InstallSnapshotReplyProto reply = null;
        for (final InstallSnapshotRequestProto piece : newInstallSnapshotRequests(UUID.randomUUID().toString(), snapshot)) {
            getFollower().updateLastRpcSendTime(false);
            reply = getServerRpc().installSnapshot(piece);
            getFollower().updateLastRpcResponseTime();
            if (!reply.getServerReply().getSuccess()) {
                break;
            }
        }
        if (reply == null) {
            return;
        }
        if (reply.getServerReply().getSuccess()) {
            getFollower().setSnapshotIndex(snapshot.getTermIndex().getIndex());
            getServer().getRaftServerMetrics().onSnapshotInstalled();
            LOG.info("{}: the follower has installed {}", this, snapshot);
        }
        switch (reply.getResult()) {
            case NOT_LEADER -> onFollowerTerm(reply.getTerm());
            case SUCCESS, SNAPSHOT_UNAVAILABLE, ALREADY_INSTALLED, SNAPSHOT_EXPIRED ->
                getFollower().setAttemptedToInstallSnapshot();
            default -> LOG.info("{}: the follower has answered {} to {}", this, reply.getResult(), snapshot);
        }
    }
}
