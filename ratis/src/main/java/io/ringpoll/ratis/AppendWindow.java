package io.ringpoll.ratis;

import java.util.ArrayDeque;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.util.Timestamp;

/**
 * The append requests to one follower that have no reply yet, in the order of sending.
 * <pre>
 *   log:  | accepted | request | request | request | not sent |
 *                    ^ head, whose reply is processed next
 * </pre>
 *
 * <p>Replies are processed in the order of the requests, by one thread at a time, and each at most once. The first failure or
 * refusal ends the <i>epoch</i>: the window closes, it forgets all requests, and ignores their replies. The appender sets the
 * follower's next index back and opens the window again. Until the follower has accepted a request, there is room for one.
 *
 * <p>A forgotten request may still be under way, and even pending in the follower's log: the follower's {@link AppendQueue} lets
 * the repeated one wait for it.
 *
 * <p>Thread-safe. The lock is held for a few instructions only, and never during a call of the engine.
 */
final class AppendWindow {
    private final int maxRequests;
    private final long maxBytes;
    private final ArrayDeque<Request> requests = new ArrayDeque<>();
    private Request heartbeat;
    private int epoch;
    private long bytes;
    private boolean steady;
    private boolean closed;
    /** Whether a thread processes replies. */
    private boolean processing;

    /** A request without reply. The entries are not retained. */
    static final class Request {
        private final long firstIndex;
        private final int entries;
        private final int length;
        private final Timestamp sendTime = Timestamp.currentTime();
        private int epoch;
        private boolean alone;
        private boolean advancing;
        private boolean ended;
        private long setBack = RaftLog.INVALID_LOG_INDEX;
        private AppendEntriesReplyProto reply;
        private Throwable failure;

        private Request(final AppendEntriesRequestProto request) {
            entries = request.getEntriesCount();
            firstIndex = entries > 0 ? request.getEntries(0).getIndex() : RaftLog.INVALID_LOG_INDEX;
            length = request.getSerializedSize();
        }

        /** Index of the first entry; {@link RaftLog#INVALID_LOG_INDEX} for a heartbeat. */
        long firstIndex() {
            return firstIndex;
        }

        long lastIndex() {
            return firstIndex + entries - 1;
        }

        int entries() {
            return entries;
        }

        Timestamp sendTime() {
            return sendTime;
        }

        /** Whether the follower's next index advances when the request is sent, and not when it is accepted. */
        boolean isAdvancing() {
            return advancing;
        }

        /**
         * The follower's next index after the end of the epoch by this request; {@link RaftLog#INVALID_LOG_INDEX} if it has not
         * ended an epoch, or no entries were under way.
         */
        long setBack() {
            return setBack;
        }

        /** The reply; null after a failure. */
        AppendEntriesReplyProto reply() {
            return reply;
        }

        /** Null if there is a reply. */
        Throwable failure() {
            return failure;
        }

        boolean isAccepted() {
            return failure == null && reply.getResult() == AppendResult.SUCCESS;
        }
    }

    AppendWindow(final int maxRequests, final long maxBytes) {
        this.maxRequests = maxRequests;
        this.maxBytes = maxBytes;
    }

    /** Whether a request with entries may be sent. */
    synchronized boolean hasRoom() {
        return !closed && (requests.isEmpty() || steady && requests.size() < maxRequests && bytes < maxBytes);
    }

    /** Whether a heartbeat may be sent: one at a time. */
    synchronized boolean hasRoomForHeartbeat() {
        return !closed && heartbeat == null;
    }

    /** Whether no entries are under way. */
    synchronized boolean isEmpty() {
        return requests.isEmpty();
    }

    /** Whether the follower has accepted the latest request that was processed. */
    synchronized boolean isSteady() {
        return steady;
    }

    /**
     * Adds a request before it is sent, by the thread with the turn.
     *
     * @return null if the window has been closed meanwhile: it must not be sent
     */
    synchronized Request add(final AppendEntriesRequestProto message) {
        if (closed) {
            return null;
        }
        final Request request = new Request(message);
        request.epoch = epoch;
        request.alone = requests.isEmpty();
        if (request.entries == 0) {
            heartbeat = request;
        } else {
            // A follower that may refuse the request, or that is not there, would set the index back each time.
            request.advancing = steady;
            requests.addLast(request);
            bytes += request.length;
        }
        return request;
    }

    /**
     * Records the end of a request with entries.
     *
     * @return true if the calling thread must process the ended requests: see {@link #next}
     */
    synchronized boolean end(final Request request, final AppendEntriesReplyProto reply, final Throwable failure) {
        if (request.ended || request.epoch != epoch) {
            return false;
        }
        request.ended = true;
        request.reply = reply;
        request.failure = failure;
        if (!request.isAccepted()) {
            closed = true;
        }
        final boolean processes = !processing && requests.peekFirst().ended;
        processing |= processes;
        return processes;
    }

    /**
     * The next ended request. One that was not accepted ends the epoch, and the processing.
     *
     * @return null if the next one has not ended: the calling thread does not process any more
     */
    synchronized Request next() {
        final Request head = requests.peekFirst();
        if (head == null || !head.ended) {
            processing = false;
            return null;
        }
        if (!head.isAccepted()) {
            endEpoch(head);
            processing = false;
        }
        return head;
    }

    /** Removes an accepted request that has been processed. */
    synchronized void remove(final Request accepted) {
        if (accepted.epoch == epoch) {
            requests.removeFirst();
            bytes -= accepted.length;
            steady = true;
        }
    }

    /**
     * Records the end of a heartbeat. A refusal ends the epoch; so does a failure if no entries are under way, which have
     * time-outs of their own.
     *
     * @return true if it was accepted or has ended the epoch; false if nothing is to be done
     */
    synchronized boolean endHeartbeat(final Request request, final AppendEntriesReplyProto reply, final Throwable failure) {
        if (request.ended || request.epoch != epoch) {
            return false;
        }
        request.ended = true;
        request.reply = reply;
        request.failure = failure;
        heartbeat = null;
        if (request.isAccepted()) {
            // Beside entries, it contains no entry to compare.
            steady |= request.alone;
            return true;
        }
        if (failure != null && !requests.isEmpty()) {
            return false;
        }
        endEpoch(request);
        return true;
    }

    /** Ends the epoch and closes the window, because of a request or, if it is null, an exception. */
    synchronized void endEpoch(final Request cause) {
        final Request head = requests.peekFirst();
        if (cause != null && head != null) {
            cause.setBack = head.firstIndex;
        }
        requests.clear();
        heartbeat = null;
        bytes = 0;
        steady = false;
        closed = true;
        epoch++;
    }

    /** Opens the window again. */
    synchronized void open() {
        closed = false;
    }
}
