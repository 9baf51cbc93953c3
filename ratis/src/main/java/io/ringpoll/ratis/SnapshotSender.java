package io.ringpoll.ratis;

import java.io.IOException;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a snapshot to a follower that needs entries which the leader's log no longer contains. If the engine is configured
 * accordingly ({@code raft.server.log.appender.install.snapshot.enabled = false}), it makes the follower's state machine fetch a
 * snapshot instead. Belongs to the appender's thread.
 */
final class SnapshotSender {
    /** The need of a follower. */
    enum Need {
        /** Entries of the log. */
        ENTRIES,
        /** A snapshot, part of which has been sent. */
        SNAPSHOT,
        /** A snapshot, which is sent when no entries are under way. */
        REPLIES,
        /** A snapshot that it does not have yet: wait before the next request. */
        TIME
    }

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);

    private final LogAppender appender;
    private final FollowerInfo follower;
    private final boolean sends;

    SnapshotSender(final LogAppender appender) {
        this.appender = appender;
        follower = appender.getFollower();
        sends = RaftServerConfigKeys.Log.Appender.installSnapshotEnabled(appender.getServer().getRaftServer().getProperties());
    }

    /**
     * Determines the need of the follower, and sends or announces a snapshot if necessary.
     *
     * @param isIdle whether no entries are under way, so that a snapshot may be sent
     */
    Need send(final boolean isIdle) throws IOException {
        if (sends) {
            final SnapshotInfo snapshot = appender.shouldInstallSnapshot();
            return snapshot == null ? Need.ENTRIES : isIdle ? send(snapshot) : Need.REPLIES;
        }
        final TermIndex firstAvailable = firstAvailable();
        return firstAvailable == null ? Need.ENTRIES : !isIdle ? Need.REPLIES :
            complete(ask(appender.newInstallSnapshotNotificationRequest(firstAvailable)), null);
    }

    private InstallSnapshotReplyProto ask(final InstallSnapshotRequestProto request) throws IOException {
        follower.updateLastRpcSendTime(false);
        final InstallSnapshotReplyProto reply = appender.getServerRpc().installSnapshot(request);
        follower.updateLastRpcResponseTime();
        return reply;
    }

    private Need send(final SnapshotInfo snapshot) throws IOException {
        InstallSnapshotReplyProto reply = null;
        final String requestId = UUID.randomUUID().toString();
        for (final InstallSnapshotRequestProto piece : appender.newInstallSnapshotRequests(requestId, snapshot)) {
            reply = ask(piece);
            if (!reply.getServerReply().getSuccess()) {
                break;
            }
        }
        return reply == null ? Need.TIME : complete(reply, snapshot);
    }

    /** The first entry of the leader's log if it is after the follower's next index; null otherwise. */
    private TermIndex firstAvailable() {
        final RaftLog log = appender.getRaftLog();
        final long startIndex = log.getStartIndex();
        final boolean isNew =
            appender.getLeaderState().isFollowerBootstrapping(follower) && !follower.hasAttemptedToInstallSnapshot();
        final boolean isBehind = follower.getNextIndex() < log.getNextIndex() &&
            (follower.getNextIndex() < startIndex || startIndex == RaftLog.INVALID_LOG_INDEX);
        if (!isNew && !isBehind) {
            return null;
        }
        final TermIndex first = log.getTermIndex(startIndex);
        return first != null ? first : TermIndex.valueOf(appender.getServer().getInfo().getCurrentTerm(), log.getNextIndex());
    }

    private Need complete(final InstallSnapshotReplyProto reply, final SnapshotInfo sent) {
        switch (reply.getResult()) {
            case SUCCESS -> {
                if (sent != null && reply.getServerReply().getSuccess()) {
                    follower.setSnapshotIndex(sent.getTermIndex().getIndex());
                    appender.getServer().getRaftServerMetrics().onSnapshotInstalled();
                    LOG.info("{}: the follower has installed {}", appender, sent);
                }
                follower.setAttemptedToInstallSnapshot();
            }
            case ALREADY_INSTALLED, SNAPSHOT_INSTALLED -> has(reply);
            case SNAPSHOT_UNAVAILABLE -> {
                follower.setAttemptedToInstallSnapshot();
                notifyStateMachine(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE, RaftLog.INVALID_LOG_INDEX);
            }
            case SNAPSHOT_EXPIRED -> follower.setAttemptedToInstallSnapshot();
            case NOT_LEADER -> appender.onFollowerTerm(reply.getTerm());
            case CONF_MISMATCH -> LOG.error("{}: this server and the follower have different values of {}", appender,
                RaftServerConfigKeys.Log.Appender.INSTALL_SNAPSHOT_ENABLED_KEY);
            default -> LOG.debug("{}: the follower has answered {}", appender, reply.getResult());
        }
        return switch (reply.getResult()) {
            case SUCCESS, ALREADY_INSTALLED, SNAPSHOT_INSTALLED -> Need.SNAPSHOT;
            default -> Need.TIME;
        };
    }

    /** Updates the follower with the last entry of its snapshot. */
    private void has(final InstallSnapshotReplyProto reply) {
        if (!reply.hasSnapshotIndex()) {
            follower.setAttemptedToInstallSnapshot();
            return;
        }
        final long index = reply.getSnapshotIndex();
        LOG.info("{}: the follower has a snapshot up to {}", appender, index);
        follower.setSnapshotIndex(index);
        follower.setAttemptedToInstallSnapshot();
        appender.getLeaderState().onFollowerCommitIndex(follower, index);
        follower.updateNextIndex(index + 1);
        if (reply.getResult() == InstallSnapshotResult.SNAPSHOT_INSTALLED && index + 1 >= appender.getRaftLog().getStartIndex()) {
            notifyStateMachine(InstallSnapshotResult.SUCCESS, index);
        }
    }

    private void notifyStateMachine(final InstallSnapshotResult result, final long index) {
        appender.getServer().getStateMachine().event().notifySnapshotInstalled(result, index, follower.getPeer());
    }
}
