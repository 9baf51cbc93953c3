package io.ringpoll.ratis;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
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
 * has accepted count. Nor is a follower told of a commit beyond what the request itself compares: see {@link #bounded}.
 *
 * <p>While all goes well nobody waits for the appender's own thread: the thread that has appended an entry sends it, and a
 * success is taken on the thread that it comes on, which sends what has come meanwhile. Who sends has the turn until the reply
 * has been taken. The appender's own thread sends heartbeats, snapshots, and what is long or may have to be waited for, and sees
 * to all that fails.
 */
final class RdmaLogAppender extends LogAppenderBase {
    private static final int SHORT_ENTRIES = 64;
    private static final int SHORT_BYTES = 16 << 10;
    private static final int HEARTBEAT_PARTS = 4;

    private final RdmaServerRpc rpc;
    private final SnapshotSender snapshots;
    /** Whether somebody has the turn. Who gives it back looks whether there is more to send: who asks meanwhile need not. */
    private final AtomicBoolean turn = new AtomicBoolean();
    /** What the appender's own thread has to do before anything is sent, and has the turn for; null if there is nothing. */
    private volatile Remainder remainder;
    /** Whether the follower has taken the latest request. */
    private volatile boolean steady;
    /** Whether anybody has read what only a leader can know to be the latest, and has waited for followers to say so. */
    private volatile boolean acknowledging;
    private volatile boolean woken;
    private volatile Thread thread;

    /** What is left to do of a request, and may take its time. */
    @FunctionalInterface
    private interface Remainder {
        void settle() throws IOException, InterruptedException;
    }

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
    public void triggerHeartbeat() {
        acknowledging = true;
        super.triggerHeartbeat();
    }

    /** Called by the engine for each entry and, although there is then nothing to send, for each commit: that wakes nobody. */
    @Override
    public void notifyLogAppender() {
        if (shouldSendAppendEntries() && !turn.get() && !sendHere()) {
            wakeUp();
        }
    }

    /** Sends what the follower does not have, on this thread, whosever it is; false if that is for the appender's own. */
    private boolean sendHere() {
        if (!steady || getHeartbeatWaitTimeMs() <= 0 || !rpc.isConnected(getFollowerId()) || !turn.compareAndSet(false, true)) {
            return false;
        }
        try {
            if (isRunning() && isShort() && appendEntries()) {
                return true;
            }
            turn.set(false);
        } catch (final RaftLogIOException | RuntimeException e) {
            leave(() -> {
                throw e;
            });
        }
        return false;
    }

    /** Whether there are entries to send, few and short, that lie in memory: no call of the engine's then waits for anything. */
    private boolean isShort() throws RaftLogIOException {
        final RaftLog log = getRaftLog();
        final long first = getFollower().getNextIndex();
        final long end = log.getNextIndex();
        if (first >= end || end - first > SHORT_ENTRIES || first < log.getStartIndex()) {
            return false;
        }
        int bytes = 0;
        for (long index = first; index < end; index++) {
            final LogEntryProto entry = log.get(index);
            if (entry == null || entry.getStateMachineLogEntry().hasStateMachineEntry()) {
                // The state machine keeps what belongs to it.
                return false;
            }
            bytes += entry.getSerializedSize();
        }
        return bytes <= SHORT_BYTES;
    }

    @Override
    public void run() throws InterruptedException, IOException {
        thread = Thread.currentThread();
        while (isRunning()) {
            woken = false;
            final Remainder left = remainder;
            if (left != null) {
                remainder = null;
                left.settle();
                turn.set(false);
            }
            if (isRunning() && shouldSendAppendEntries() && turn.compareAndSet(false, true) && !send()) {
                turn.set(false);
            }
            await();
            getLeaderState().checkHealth(getFollower());
        }
    }

    private void await() throws InterruptedException {
        if (!woken && isRunning()) {
            // Who has the turn wakes this thread if there is something to do, but not for the next heartbeat.
            final long waitMs = turn.get() ? getServer().properties().minRpcTimeoutMs() / HEARTBEAT_PARTS :
                shouldSendAppendEntries() ? 0 : getHeartbeatWaitTimeMs();
            if (waitMs > 0) {
                LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(waitMs));
            }
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private void wakeUp() {
        woken = true;
        LockSupport.unpark(thread);
    }

    /** Leaves the turn to the appender's own thread, with something to do. */
    private void leave(final Remainder rest) {
        steady = false;
        remainder = rest;
        wakeUp();
    }

    /** Sends what the follower lacks most; false if no request is on its way now. On the appender's own thread, with the turn. */
    private boolean send() throws IOException, InterruptedException {
        SnapshotSender.Need need = SnapshotSender.Need.TIME;
        try {
            need = snapshots.send();
        } catch (final InterruptedIOException | RaftLogIOException e) {
            throw e;
        } catch (final IOException e) {
            onUnreachable(e);
        }
        if (need == SnapshotSender.Need.ENTRIES && appendEntries()) {
            return true;
        }
        if (need != SnapshotSender.Need.SNAPSHOT) {
            pause();
        }
        return false;
    }

    private void pause() throws InterruptedException {
        if (isRunning()) {
            getServer().properties().rpcSleepTime().sleep();
        }
    }

    private void onUnreachable(final Throwable failure) {
        // The transport has seen to the connection.
        LOG.debug("{}: the follower could not be reached", this, failure);
    }

    /** Sends entries, or a heartbeat if it is time for one, with the turn; false if there is nothing that can be sent now. */
    private boolean appendEntries() throws RaftLogIOException {
        final AppendEntriesRequestProto next = newAppendEntriesRequest(CallId.getAndIncrement(), false);
        if (next == null) {
            return false;
        }
        final AppendEntriesRequestProto request = bounded(next);
        if (Thread.currentThread() == thread) {
            // Who has asked for a heartbeat counts only requests that begin after that, which the others' may not.
            resetHeartbeatTrigger();
        }
        final Timestamp sendTime = Timestamp.currentTime();
        getFollower().updateLastRpcSendTime(request.getEntriesCount() == 0);
        try {
            rpc.appendEntriesAsync(request).whenComplete((reply, failure) -> onEnd(request, sendTime, reply, failure));
        } catch (final IOException e) {
            onEnd(request, sendTime, null, e);
        }
        return true;
    }

    /** Takes what has become of a request, with its turn, on the thread of a handler, which may not wait. */
    private void onEnd(final AppendEntriesRequestProto request, final Timestamp sendTime, final AppendEntriesReplyProto reply,
        final Throwable failure) {
        if (failure != null) {
            onUnreachable(failure);
            leave(this::pause);
        } else if (reply.getResult() != AppendResult.SUCCESS) {
            leave(() -> {
                onReply(reply, sendTime);
                onRefusal(request, reply);
                getLeaderState().onAppendEntriesReply(this, reply);
            });
        } else if (isRunning()) {
            try {
                onSuccess(request, reply, sendTime);
                steady = true;
                turn.set(false);
                notifyLogAppender();
            } catch (final RuntimeException e) {
                leave(() -> {
                    throw e;
                });
            }
        }
    }

    private void onSuccess(final AppendEntriesRequestProto request, final AppendEntriesReplyProto reply,
        final Timestamp sendTime) {
        final int entries = request.getEntriesCount();
        if (entries > 0) {
            final long lastIndex = request.getEntries(entries - 1).getIndex();
            getFollower().increaseNextIndex(lastIndex + 1);
            if (getFollower().updateMatchIndex(lastIndex)) {
                getLeaderState().onFollowerSuccessAppendEntries(getFollower());
            }
        }
        onReply(reply, sendTime);
        if (acknowledging) {
            // A read that has waited for it goes on with the state machine's answer, which takes as long as it takes.
            rpc.executeOnRequestThread(() -> getLeaderState().onAppendEntriesReply(this, reply));
        }
    }

    private void onReply(final AppendEntriesReplyProto reply, final Timestamp sendTime) {
        getFollower().updateLastRpcResponseTime();
        getFollower().updateLastRespondedAppendEntriesSendTime(sendTime);
        getLeaderState().onFollowerCommitIndex(getFollower(), reply.getFollowerCommit());
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
