package io.ringpoll.rpma;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.verbs.PostingThreads;
import io.ringpoll.os.Errno;
import java.util.Objects;

/** Common parts of posts: their reservation in the budget, and the meaning of results: accepted, no room, or a failure. */
final class Posts {
    /** Longest message that verbs allow. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    static final String ATOMIC_WRITE = "rpma_atomic_write";
    static final String NO_FLAG = "the flag is null: use ALWAYS, or ON_ERROR for a completion of failures alone";

    /** Where errno is unknown, because librpma has written the reason to its own log. */
    static final String UNKNOWN_REASON = "the queue may be full: the reason is in librpma's own log (" +
        RpmaLog.DESTINATION_PROPERTY + ")";

    /** The result before a request is counted. */
    static final int NOT_RESERVED = 1;
    /** The result after a request is counted and before C has given its own, which is 0 or negative. */
    static final int RESERVED = 2;

    /** Values of the flags, without their objects. */
    static final int ALWAYS = CompletionFlag.ALWAYS.value();
    static final int ON_ERROR = CompletionFlag.ON_ERROR.value();

    private Posts() {
    }

    /** Counts a request of the send queue before it is posted; false if there is no room for its completion. */
    static boolean reserveSend(
        final PostingThreads threads, final CompletionBudget budget, final HotCalls calls, final CompletionFlag flag) {
        PostingThreads.check(threads);
        return budget == null || budget.reserveSend(flag == CompletionFlag.ALWAYS, calls.isShared());
    }

    /** Counts a receive before it is posted; false if there is no room for its completion. */
    static boolean reserveReceive(final PostingThreads threads, final CompletionBudget budget, final HotCalls calls) {
        PostingThreads.check(threads);
        return budget == null || budget.reserveReceive(calls.isShared());
    }

    /** Leases later posts to the thread that is within this one, if a lease is wanted and no other thread posts. */
    static void lease(final HotCalls calls, final HotLease wanted) {
        if (wanted != null) {
            calls.lease(wanted);
        }
    }

    /** Ends a post to the send queue, which counts no more if it was not accepted. */
    static void endSend(final CompletionBudget budget, final HotMark mark, final CompletionFlag flag, final int result) {
        if (isToCancel(budget, result)) {
            budget.cancelSend(flag == CompletionFlag.ALWAYS);
        }
        mark.leave();
    }

    /** Ends a post to the receive queue, which counts no more if it was not accepted. */
    static void endReceive(final CompletionBudget budget, final HotMark mark, final int result) {
        if (isToCancel(budget, result)) {
            budget.cancelReceive();
        }
        mark.leave();
    }

    private static boolean isToCancel(final CompletionBudget budget, final int result) {
        return result != RpmaError.SUCCESS && result != NOT_RESERVED && budget != null;
    }

    /** Judges the result of a post by the thread that made it; a full queue is an ordinary answer and allocates nothing. */
    static boolean isAccepted(final String function, final int result) {
        return result == RpmaError.SUCCESS || isRefused(function, result);
    }

    /** As {@link #isAccepted(String, int)}, for a post to the send queue of a connection. */
    static boolean isAccepted(final String function, final int result, final Connection connection) {
        return result == RpmaError.SUCCESS || isRefused(function, result, connection);
    }

    /**
     * Judges the last result of several posts of receives, of which some have been accepted.
     *
     * @return the number of accepted ones; throws after a failure
     */
    static int accepted(final String function, final int result, final int number) {
        if (result < RpmaError.SUCCESS) {
            isRefused(function, result);
        }
        return number;
    }

    /** librpma puts the length into 32 bits unseen. */
    static void checkLength(final long lengthBytes) {
        if (lengthBytes > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                "a message of " + lengthBytes + " bytes; at most " + MAX_MESSAGE_BYTES + " can be posted");
        }
    }

    /** The address for a post, see {@link LocalMemoryRegion#addressFor}; 0 without a region. */
    static long addressOf(final LocalMemoryRegion region, final long offset, final long lengthBytes) {
        return region == null ? 0 : region.addressFor(offset, lengthBytes);
    }

    /** The address for a post, see {@link RemoteMemoryRegion#addressFor}; 0 without a region. */
    static long addressOf(final RemoteMemoryRegion region, final long offset, final long lengthBytes) {
        return region == null ? 0 : region.addressFor(offset, lengthBytes);
    }

    /** Checks the arguments of a post to the send queue. */
    static void checkPost(final long lengthBytes, final CompletionFlag flag) {
        checkLength(lengthBytes);
        Objects.requireNonNull(flag, NO_FLAG);
    }

    /** Checks the arguments of a post of receives. */
    static void checkReceives(final long lengthBytes, final int count) {
        checkLength(lengthBytes);
        if (count < 0) {
            throw new IllegalArgumentException(count + " requests: the number is 0 or more");
        }
    }

    private static boolean isRefused(final String function, final int result) {
        if (isFull(result)) {
            return false;
        }
        throw RpmaException.withoutErrno(function, result, errno -> isReasonUnknown(result, errno) ? UNKNOWN_REASON : "");
    }

    private static boolean isRefused(final String function, final int result, final Connection connection) {
        if (isFull(result)) {
            return false;
        }
        throw RpmaException.withoutErrno(function, result, errno -> remedyForSend(connection, function, result, errno));
    }

    /** Describes why the send queue may have refused a request with this errno; 0 if unknown. */
    static String remedyForSend(final Connection connection, final String function, final int code, final int errno) {
        if (code == RpmaError.INVAL) {
            return ATOMIC_WRITE.equals(function) ?
                "its offset is to be a multiple of " + Connection.ATOMIC_WRITE_BYTES :
                "null in the place of a memory region is for requests of 0 bytes, and on both sides";
        }
        final boolean unknown = isReasonUnknown(code, errno);
        final String early = connection.isEstablished() || errno != Errno.EINVAL && !unknown ? "" :
            connection.name() + " takes this only after " + ConnectionEvent.ESTABLISHED + ": await it by nextEvent";
        return !unknown ? early : early.isEmpty() ? UNKNOWN_REASON : early + "; or " + UNKNOWN_REASON;
    }

    /** Whether a refusal may have any reason, also a full queue. */
    static boolean isReasonUnknown(final int code, final int errno) {
        return code == RpmaError.PROVIDER && errno == 0 && !LogSink.isInstalled();
    }

    private static boolean isFull(final int result) {
        if (result == RpmaError.PROVIDER && LogSink.errorErrno() == Errno.ENOMEM) {
            LogSink.clearError();
            return true;
        }
        return false;
    }
}
