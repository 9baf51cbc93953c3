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
 * Brings a follower a snapshot that needs what the leader's log does not have any more: sends it piece by piece, or, if the
 * engine is so configured ({@code raft.server.log.appender.install.snapshot.enabled = false}), has the follower's state machine
 * get one from wherever it can. Belongs to the appender's thread.
 */
final class SnapshotSender {
    /** What a follower needs. */
    enum Need {
        /** Entries of the log. */
        ENTRIES,
        /** A snapshot, and it was brought a step further. */
        SNAPSHOT,
        /** A snapshot that it does not have yet, so that it should be left alone for a while. */
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

    /** Finds out what the follower needs, and sends or announces a snapshot if it needs that. */
    Need send() throws IOException {
        if (sends) {
            final SnapshotInfo snapshot = appender.shouldInstallSnapshot();
            return snapshot == null ? Need.ENTRIES : send(snapshot);
        }
        final TermIndex firstAvailable = firstAvailable();
        return firstAvailable == null ? Need.ENTRIES :
            settle(ask(appender.newInstallSnapshotNotificationRequest(firstAvailable)), null);
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
        return reply == null ? Need.TIME : settle(reply, snapshot);
    }

    /** From where on the leader has a log, if that is behind what the follower needs next; null if it is not. */
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

    private Need settle(final InstallSnapshotReplyProto reply, final SnapshotInfo sent) {
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
                tellStateMachine(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE, RaftLog.INVALID_LOG_INDEX);
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

    /** The follower has a snapshot, whose last entry it names. */
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
            tellStateMachine(InstallSnapshotResult.SUCCESS, index);
        }
    }

    private void tellStateMachine(final InstallSnapshotResult result, final long index) {
        appender.getServer().getStateMachine().event().notifySnapshotInstalled(result, index, follower.getPeer());
    }
}
