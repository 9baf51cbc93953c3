package io.ringpoll.ratis;

import io.ringpoll.internal.transport.MessageTooLongException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
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
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.util.JavaUtils;
import org.apache.ratis.util.Timestamp;

/**
 * Replicates the leader's log to one follower: one request at a time, with all entries appended meanwhile in the next request.
 *
 * <p>It replaces the engine's default appender. Until its change RATIS-2605, the default appender interprets a follower's reply
 * to a heartbeat as a match of the whole log: a follower with entries of an earlier term after the compared index then counts for
 * the majority, and entries are committed that it does not have. Here only entries accepted by the follower count, and a request
 * carries no commit index beyond the entries that it compares: see {@link #bounded}.
 *
 * <p>In the normal case no thread waits for the appender's own thread: the thread that appends an entry sends it, and a
 * successful reply is processed on the handler's thread, which sends the entries appended meanwhile. The sender holds the turn
 * until the reply has been processed. The appender's own thread sends heartbeats, snapshots and long requests, and handles
 * failures.
 *
 * <p>The handler's thread never waits for the engine: it does not access the log, but sends the {@link ReadyEntries}, and leaves
 * the follower's commit index, which completes watch requests, to a request thread.
 */
final class RdmaLogAppender extends LogAppenderBase {
    private static final int HEARTBEAT_PARTS = 4;

    private final RdmaServerRpc rpc;
    private final SnapshotSender snapshots;
    private final ReadyEntries ready;
    /** The follower's commit index, and whether a thread will report it. */
    private final AtomicLong followerCommit = new AtomicLong(RaftLog.INVALID_LOG_INDEX);
    private final AtomicBoolean reporting = new AtomicBoolean();
    /**
     * Whether a thread holds the turn. A thread that releases the turn checks for more entries, so that a thread which fails to
     * acquire it need not.
     */
    private final AtomicBoolean turn = new AtomicBoolean();
    /** Task of the appender's own thread, with the turn, before anything else is sent; null if none. */
    private volatile Remainder remainder;
    /** Limit of the follower; known when a request has exceeded it. Belongs to the turn. */
    private int maxRequestBytes = Integer.MAX_VALUE;
    /** Whether the follower has accepted the latest request. */
    private volatile boolean steady;
    /** Whether a linearizable read has been requested, which requires the followers' acknowledgement. */
    private volatile boolean acknowledging;
    private volatile boolean woken;
    private volatile Thread thread;

    /** The part of a request's processing that may block. */
    @FunctionalInterface
    private interface Remainder {
        void complete() throws IOException, InterruptedException;
    }

    RdmaLogAppender(final RaftServer.Division server, final LeaderState leaderState, final FollowerInfo follower) {
        super(server, leaderState, follower);
        rpc = (RdmaServerRpc) getServerRpc();
        snapshots = new SnapshotSender(this);
        ready = new ReadyEntries(getRaftLog());
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

    /**
     * Called by the engine for each entry and for each commit, on threads that may wait for the log; a commit alone wakes no
     * thread, because there is nothing to send.
     */
    @Override
    public void notifyLogAppender() {
        if (isBehind() && !turn.get() && !sendHere()) {
            wakeUp();
        }
    }

    private boolean isBehind() {
        try {
            ready.fill();
            return ready.isPending() || shouldSendAppendEntries();
        } catch (final IllegalStateException e) {
            // The server is closing and has closed its log; the engine's thread must not end with this exception.
            return false;
        }
    }

    /** Sends the ready entries on the calling thread; returns false if the appender's own thread must send. */
    private boolean sendHere() {
        if (!steady || getHeartbeatWaitTimeMs() <= 0 || !rpc.isConnected(getFollowerId()) || !turn.compareAndSet(false, true)) {
            return false;
        }
        try {
            final ReadyEntries.Batch batch = isRunning() ? ready.take(getFollower().getNextIndex()) : null;
            if (batch != null) {
                send(bounded(getLeaderState().newAppendEntriesRequestProto(
                    getFollower(), batch.entries(), batch.previous(), CallId.getAndIncrement())));
                return true;
            }
            turn.set(false);
        } catch (final RuntimeException e) {
            leave(() -> {
                throw e;
            });
        }
        return false;
    }

    @Override
    public void run() throws InterruptedException, IOException {
        thread = Thread.currentThread();
        while (isRunning()) {
            woken = false;
            final Remainder left = remainder;
            if (left != null) {
                remainder = null;
                left.complete();
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
            // The holder of the turn wakes this thread if there is a task, but not for the next heartbeat.
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

    /** Passes the turn to the appender's own thread, with a task. */
    private void leave(final Remainder rest) {
        steady = false;
        ready.stop();
        remainder = rest;
        wakeUp();
    }

    /** Sends a snapshot or entries; returns false if no request is in flight. Appender's own thread, with the turn. */
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
        // The transport handles the connection.
        LOG.debug("{}: the follower could not be reached", this, failure);
    }

    /**
     * Sends entries, or a heartbeat if one is due; returns false if nothing can be sent now. Appender's own thread, with the
     * turn.
     */
    private boolean appendEntries() throws RaftLogIOException {
        final AppendEntriesRequestProto next = newAppendEntriesRequest(CallId.getAndIncrement(), false);
        if (next == null) {
            return false;
        }
        final AppendEntriesRequestProto request = bounded(shortened(next, maxRequestBytes));
        // A heartbeat trigger is satisfied only by a request that starts after it, so it must be reset first.
        resetHeartbeatTrigger();
        follow(request);
        send(request);
        return true;
    }

    /** Prepares the entries behind those of a request. */
    private void follow(final AppendEntriesRequestProto request) {
        final int entries = request.getEntriesCount();
        final TermIndex last = entries > 0 ? TermIndex.valueOf(request.getEntries(entries - 1)) :
            request.hasPreviousLog() ? TermIndex.valueOf(request.getPreviousLog()) : null;
        if (last != null || getFollower().getNextIndex() == RaftLog.LEAST_VALID_LOG_INDEX) {
            ready.startAfter(last);
        } else {
            // The entry before is only known to a snapshot.
            ready.stop();
        }
    }

    private void send(final AppendEntriesRequestProto request) {
        final Timestamp sendTime = Timestamp.currentTime();
        getFollower().updateLastRpcSendTime(request.getEntriesCount() == 0);
        try {
            rpc.appendEntriesAsync(request).whenComplete((reply, failure) -> onEnd(request, sendTime, reply, failure));
        } catch (final IOException e) {
            onEnd(request, sendTime, null, e);
        }
    }

    /** Processes the end of a request, with its turn, on a handler's thread, which must not block. */
    private void onEnd(final AppendEntriesRequestProto request, final Timestamp sendTime, final AppendEntriesReplyProto reply,
        final Throwable failure) {
        if (failure != null) {
            onFailure(request, failure);
        } else if (reply.getResult() != AppendResult.SUCCESS) {
            leave(() -> {
                onReply(sendTime);
                getLeaderState().onFollowerCommitIndex(getFollower(), reply.getFollowerCommit());
                onRefusal(request, reply);
                getLeaderState().onAppendEntriesReply(this, reply);
            });
        } else if (isRunning()) {
            try {
                onSuccess(request, reply, sendTime);
                steady = true;
                turn.set(false);
                if (ready.isPending() && !turn.get() && !sendHere()) {
                    wakeUp();
                }
            } catch (final RuntimeException e) {
                leave(() -> {
                    throw e;
                });
            }
        }
    }

    private void onFailure(final AppendEntriesRequestProto request, final Throwable failure) {
        if (JavaUtils.unwrapCompletionException(failure) instanceof final MessageTooLongException tooLong &&
            tooLong.limitBytes() < maxRequestBytes && request.getEntriesCount() > 1) {
            maxRequestBytes = tooLong.limitBytes();
            leave(() -> { });
        } else {
            onUnreachable(failure);
            leave(this::pause);
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
        onReply(sendTime);
        reportCommit(reply.getFollowerCommit());
        if (acknowledging) {
            // A pending read continues with the state machine, which may block.
            rpc.executeOnRequestThread(() -> getLeaderState().onAppendEntriesReply(this, reply));
        }
    }

    private void onReply(final Timestamp sendTime) {
        getFollower().updateLastRpcResponseTime();
        getFollower().updateLastRespondedAppendEntriesSendTime(sendTime);
    }

    /** Lets a request thread report a commit index, unless one is about to report the latest. */
    private void reportCommit(final long commit) {
        final long before = followerCommit.getAndAccumulate(commit, Math::max);
        if (commit > before && reporting.compareAndSet(false, true)) {
            rpc.executeOnRequestThread(() -> {
                reporting.set(false);
                getLeaderState().onFollowerCommitIndex(getFollower(), followerCommit.get());
            });
        }
    }

    /**
     * Limits the commit index of a request to its last entry. A request without a previous entry compares only the entries that
     * it carries, but the engine's followers treat one more index as compared. A heartbeat with a larger commit index would make
     * them commit a first entry written by an earlier leader, permanently.
     */
    static AppendEntriesRequestProto bounded(final AppendEntriesRequestProto request) {
        if (request.hasPreviousLog()) {
            return request;
        }
        final int entries = request.getEntriesCount();
        final long lastIndex = entries > 0 ? request.getEntries(entries - 1).getIndex() : RaftLog.INVALID_LOG_INDEX;
        return request.getLeaderCommit() <= lastIndex ? request : request.toBuilder().setLeaderCommit(lastIndex).build();
    }

    /**
     * Removes the last entries of a request that is longer than the follower accepts. The engine limits the entries of a request,
     * but not their headers, and the follower's limit may be lower than the leader's.
     */
    static AppendEntriesRequestProto shortened(final AppendEntriesRequestProto request, final int maxBytes) {
        int entries = request.getEntriesCount();
        int bytes = request.getSerializedSize();
        while (bytes > maxBytes && entries > 1) {
            entries--;
            bytes -= CodedOutputStream.computeMessageSize(AppendEntriesRequestProto.ENTRIES_FIELD_NUMBER,
                request.getEntries(entries));
        }
        if (entries == request.getEntriesCount()) {
            return request;
        }
        final List<LogEntryProto> first = request.getEntriesList().subList(0, entries);
        return request.toBuilder().clearEntries().addAllEntries(first)
            .setLeaderCommit(Math.min(request.getLeaderCommit(), first.getLast().getIndex())).build();
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
