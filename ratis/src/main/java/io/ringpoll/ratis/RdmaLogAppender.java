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
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
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
 * Replicates the leader's log to one follower. Up to {@link RdmaAppendConfigKeys#REQUESTS_MAX_KEY} requests with entries are
 * under way; entries appended while the {@link AppendWindow} is full go into the next request together.
 *
 * <p>It replaces the engine's default appender. Until its change RATIS-2605, the default appender interprets a follower's reply
 * to a heartbeat as a match of the whole log: a follower with entries of an earlier term after the compared index then counts for
 * the majority, and entries are committed that it does not have. Here only entries accepted by the follower count, and a request
 * carries no commit index beyond the entries that it compares: see {@link #bounded}.
 *
 * <p>In the normal case no thread waits for the appender's own thread: the thread that appends an entry sends it, and a
 * successful reply is processed on the handler's thread, which sends the entries appended meanwhile. One thread at a time has the
 * turn to send, so that the requests are posted in the order of their entries; the connection and the follower's server keep this
 * order. The appender's own thread sends heartbeats, snapshots and long requests, and handles failures: it sets the follower's
 * next index back to the first entry without reply, and continues with one request until the follower has accepted it.
 *
 * <p>The handler's thread never waits for the engine: it does not access the log, but sends the {@link ReadyEntries}, and leaves
 * the follower's commit index, which completes watch requests, to a request thread.
 */
final class RdmaLogAppender extends LogAppenderBase {
    private static final int HEARTBEAT_PARTS = 4;

    private final RdmaServerRpc rpc;
    private final SnapshotSender snapshots;
    private final ReadyEntries ready;
    private final AppendWindow window;
    private final FailedAppends failed = new FailedAppends(this);
    /** The follower's commit index, and whether a thread will report it. */
    private final AtomicLong followerCommit = new AtomicLong(RaftLog.INVALID_LOG_INDEX);
    private final AtomicBoolean reporting = new AtomicBoolean();
    /**
     * Whether a thread holds the turn to send. A thread that releases the turn checks for more entries, so that a thread which
     * fails to acquire it need not.
     */
    private final AtomicBoolean turn = new AtomicBoolean();
    /** Task of the appender's own thread, with the turn, before the window opens again; null if none. */
    private volatile Remainder remainder;
    /** Limit of the follower; known when a request has exceeded it. Belongs to the turn. */
    private int maxRequestBytes = Integer.MAX_VALUE;
    /** Whether a linearizable read has been requested, which requires the followers' acknowledgement. */
    private volatile boolean acknowledging;
    /** Whether a heartbeat beside entries, which carries no commit index, must be repeated after them for a read. */
    private volatile boolean repeating;
    /** Whether a snapshot must be sent after the entries that are under way. */
    private volatile boolean beforeSnapshot;
    /** Whether the appender's own thread waits for the turn. */
    private volatile boolean waiting;
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
        final RaftProperties properties = server.getRaftServer().getProperties();
        window = new AppendWindow(
            RdmaAppendConfigKeys.requestsMax(properties), RdmaAppendConfigKeys.bytesMax(properties).getSize());
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

    /** With entries under way, a heartbeat must not name the entry before: the follower's log may not contain it yet. */
    @Override
    public boolean hasPendingDataRequests() {
        return !window.isEmpty();
    }

    /**
     * Called by the engine for each entry and for each commit, on threads that may wait for the log; a commit alone wakes no
     * thread, because there is nothing to send.
     */
    @Override
    public void notifyLogAppender() {
        try {
            ready.fill();
            if (ready.isPending()) {
                sendReady();
            } else if (canSend()) {
                wakeUp();
            }
        } catch (final IllegalStateException e) {
            // The server is closing and has closed its log; the engine's thread must not end with this exception.
            return;
        }
    }

    private boolean isHeartbeatDue() {
        return getHeartbeatWaitTimeMs() <= 0 || repeating && window.isEmpty();
    }

    /** Whether the appender's own thread can send a heartbeat, entries or a snapshot; may wait for the log. */
    private boolean canSend() {
        return isHeartbeatDue() ? window.hasRoomForHeartbeat() :
            window.hasRoom() && (!beforeSnapshot || window.isEmpty()) && hasAppendEntries();
    }

    /** Sends the ready entries on the calling thread while there is room, or leaves them to the appender's own thread. */
    private void sendReady() {
        while (ready.isPending() && window.hasRoom() && turn.compareAndSet(false, true)) {
            final boolean isSent = sendBatch();
            turn.set(false);
            if (waiting || !isSent && ready.isPending()) {
                wakeUp();
            }
            if (!isSent) {
                return;
            }
        }
    }

    /** Sends ready entries on the calling thread, with the turn; returns false if the appender's own thread must send. */
    private boolean sendBatch() {
        try {
            if (!isRunning() || !window.isSteady() || getHeartbeatWaitTimeMs() <= 0 || !rpc.isConnected(getFollowerId())) {
                return false;
            }
            final ReadyEntries.Batch batch = ready.take(getFollower().getNextIndex());
            return batch != null && send(bounded(getLeaderState().newAppendEntriesRequestProto(
                getFollower(), batch.entries(), batch.previous(), CallId.getAndIncrement())));
        } catch (final RuntimeException | Error e) {
            restart(e);
            return false;
        }
    }

    /** Asks for its restart after an exception: the engine of version 3.2.2 restarts no appender by itself (RATIS-2499). */
    @Override
    public void run() throws InterruptedException, IOException {
        try {
            replicate();
        } catch (final InterruptedIOException e) {
            throw e;
        } catch (final IOException | RuntimeException | Error e) {
            LOG.warn("{}: failed", this, e);
            if (isRunning() && getServer().getInfo().isAlive()) {
                getLeaderState().restart(this);
            }
        }
    }

    private void replicate() throws InterruptedException, IOException {
        thread = Thread.currentThread();
        while (isRunning()) {
            woken = false;
            if (turn.compareAndSet(false, true)) {
                final Remainder left = remainder;
                if (left != null) {
                    remainder = null;
                    left.complete();
                    window.open();
                }
                if (isRunning() && canSend()) {
                    sendNext();
                }
                turn.set(false);
            }
            await();
            getLeaderState().checkHealth(getFollower());
        }
    }

    private void await() throws InterruptedException {
        waiting = remainder != null || canSend();
        if (!woken && isRunning()) {
            final long waitMs = waitMs();
            if (waitMs > 0) {
                LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(waitMs));
            }
        }
        waiting = false;
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** The wait of the appender's own thread: replies and the holder of the turn wake it, but not for the next heartbeat. */
    private long waitMs() {
        final long heartbeatMs = getHeartbeatWaitTimeMs();
        final long healthMs = getServer().properties().minRpcTimeoutMs() / HEARTBEAT_PARTS;
        if (waiting) {
            return turn.get() ? healthMs : 0;
        }
        return heartbeatMs <= 0 ? healthMs : window.isEmpty() ? heartbeatMs : Math.min(heartbeatMs, healthMs);
    }

    private void wakeUp() {
        woken = true;
        LockSupport.unpark(thread);
    }

    /**
     * Leaves a task to the appender's own thread, after the end of an epoch.
     *
     * @param setBack next index of the follower; not set if it is not valid
     */
    private void leave(final long setBack, final Remainder rest) {
        ready.stop();
        remainder = () -> {
            if (setBack >= RaftLog.LEAST_VALID_LOG_INDEX) {
                getFollower().setNextIndex(setBack);
            }
            rest.complete();
        };
        wakeUp();
    }

    /**
     * Lets the appender's own thread end with an exception of another one, which replaces this appender. Nothing else would: an
     * {@link Error} leaves the turn or the window as it is.
     */
    private void restart(final Throwable failure) {
        window.endEpoch(null);
        leave(RaftLog.INVALID_LOG_INDEX, () -> {
            throw new IllegalStateException("a thread that sends, or has received a reply, has failed", failure);
        });
    }

    /** Sends a snapshot, a heartbeat or entries. Appender's own thread, with the turn. */
    private void sendNext() throws IOException, InterruptedException {
        SnapshotSender.Need need = SnapshotSender.Need.TIME;
        try {
            need = snapshots.send(window.isEmpty());
        } catch (final InterruptedIOException | RaftLogIOException e) {
            throw e;
        } catch (final IOException e) {
            onFailure(false, e);
        }
        beforeSnapshot = need == SnapshotSender.Need.REPLIES;
        if (need == SnapshotSender.Need.SNAPSHOT) {
            failed.onSuccess(false);
        }
        final boolean isSent = switch (need) {
            case ENTRIES -> appendEntries(isHeartbeatDue());
            case REPLIES -> !isHeartbeatDue() || appendEntries(true);
            case SNAPSHOT -> true;
            case TIME -> false;
        };
        if (!isSent) {
            pause();
        }
    }

    private void pause() throws InterruptedException {
        if (isRunning()) {
            getServer().properties().rpcSleepTime().sleep();
        }
    }

    /** The transport logs the ends of connections, failed connects, and what it has not sent because it is too long. */
    private void onFailure(final boolean isHeartbeat, final Throwable failure) {
        if (failure instanceof MessageTooLongException || !rpc.isConnected(getFollowerId())) {
            LOG.debug("{}: the follower could not be reached", this, failure);
        } else {
            failed.onFailure(isHeartbeat, failure);
        }
    }

    /**
     * Sends a heartbeat or entries; returns false if nothing can be sent now. Appender's own thread, with the turn.
     */
    private boolean appendEntries(final boolean isHeartbeat) throws RaftLogIOException {
        final AppendEntriesRequestProto next = newAppendEntriesRequest(CallId.getAndIncrement(), isHeartbeat);
        if (next == null) {
            return false;
        }
        final AppendEntriesRequestProto request = bounded(shortened(next, maxRequestBytes));
        // A heartbeat trigger is satisfied only by a request that starts after it, so it must be reset first.
        resetHeartbeatTrigger();
        final boolean compares = request.getEntriesCount() > 0 || request.hasPreviousLog() || window.isEmpty();
        if (request.getEntriesCount() == 0) {
            repeating = acknowledging && !compares;
        }
        if (compares) {
            follow(request);
        }
        return send(request);
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

    /** Sends a request, with the turn; returns false if the epoch has ended meanwhile. */
    private boolean send(final AppendEntriesRequestProto message) {
        final AppendWindow.Request request = window.add(message);
        if (request == null) {
            return false;
        }
        if (request.isAdvancing()) {
            getFollower().increaseNextIndex(request.lastIndex() + 1);
        }
        getFollower().updateLastRpcSendTime(request.entries() == 0);
        try {
            rpc.appendEntriesAsync(message).whenComplete((reply, failure) -> onEnd(request, reply, failure));
        } catch (final IOException e) {
            onEnd(request, null, e);
        }
        return true;
    }

    /** Processes the end of a request on a handler's thread, which must not block. */
    private void onEnd(final AppendWindow.Request request, final AppendEntriesReplyProto reply, final Throwable failure) {
        try {
            if (request.entries() == 0) {
                if (window.endHeartbeat(request, reply, failure) && isRunning() && process(request)) {
                    sendMore();
                }
            } else if (window.end(request, reply, failure) && isRunning()) {
                processInOrder();
            }
        } catch (final RuntimeException | Error e) {
            restart(e);
        }
    }

    private void processInOrder() {
        for (AppendWindow.Request next = window.next(); next != null; next = window.next()) {
            if (!process(next)) {
                return;
            }
            window.remove(next);
        }
        sendMore();
    }

    /** Processes the end of the next request; returns false if the epoch has ended with it. */
    private boolean process(final AppendWindow.Request request) {
        if (request.isAccepted()) {
            onSuccess(request);
            return true;
        }
        leave(request.setBack(), request.failure() != null ? () -> onFailure(request) : () -> onRefusal(request));
        return false;
    }

    private void sendMore() {
        sendReady();
        final boolean isOwn = !ready.isStarted() || (repeating || beforeSnapshot) && window.isEmpty();
        if (isOwn || getHeartbeatWaitTimeMs() <= 0) {
            wakeUp();
        }
    }

    private void onFailure(final AppendWindow.Request request) throws InterruptedException {
        if (JavaUtils.unwrapCompletionException(request.failure()) instanceof final MessageTooLongException tooLong &&
            tooLong.limitBytes() < maxRequestBytes && request.entries() > 1) {
            maxRequestBytes = tooLong.limitBytes();
        } else {
            onFailure(request.entries() == 0, JavaUtils.unwrapCompletionException(request.failure()));
            pause();
        }
    }

    private void onSuccess(final AppendWindow.Request request) {
        failed.onSuccess(request.entries() == 0);
        if (request.entries() > 0) {
            getFollower().updateNextIndex(request.lastIndex() + 1);
            if (getFollower().updateMatchIndex(request.lastIndex())) {
                getLeaderState().onFollowerSuccessAppendEntries(getFollower());
            }
        }
        onReply(request.sendTime());
        reportCommit(request.reply().getFollowerCommit());
        if (acknowledging) {
            // A pending read continues with the state machine, which may block.
            rpc.executeOnRequestThread(() -> getLeaderState().onAppendEntriesReply(this, request.reply()));
        }
    }

    private void onReply(final Timestamp sendTime) {
        getFollower().updateLastRpcResponseTime();
        getFollower().updateLastRespondedAppendEntriesSendTime(sendTime);
    }

    /**
     * Lets a request thread report a commit index, unless one is about to report the latest. Watch requests wait for it, and
     * replies to clients contain it. With one record under way, it is 2 of the 15 wake-ups of an append.
     */
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

    private void onRefusal(final AppendWindow.Request request) {
        final AppendEntriesReplyProto reply = request.reply();
        onReply(request.sendTime());
        getLeaderState().onFollowerCommitIndex(getFollower(), reply.getFollowerCommit());
        switch (reply.getResult()) {
            case NOT_LEADER -> onFollowerTerm(reply.getTerm());
            case INCONSISTENCY ->
                getFollower().setNextIndex(getNextIndexForInconsistency(request.firstIndex(), reply.getNextIndex()));
            default -> LOG.warn("{}: the follower has answered {}", this, reply.getResult());
        }
        getLeaderState().onAppendEntriesReply(this, reply);
    }
}
