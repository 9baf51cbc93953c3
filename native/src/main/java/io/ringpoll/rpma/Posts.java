package io.ringpoll.rpma;

import io.ringpoll.os.Errno;
import io.ringpoll.verbs.CompletionBudget;

/** What the result of a post means: accepted, no room, or a failure. */
final class Posts {
    /** Longest message that verbs allow. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    private Posts() {
    }

    /** Judges the result of a post by the thread that made it; a full queue is an ordinary answer and allocates nothing. */
    static boolean isAccepted(final String function, final int result) {
        return result == 0 || isRefused(function, result);
    }

    /** As {@link #isAccepted(String, int)}, for a request of the send queue, which is counted if it was accepted. */
    static boolean isAccepted(
        final String function, final int result, final CompletionFlag flag, final CompletionBudget budget) {
        if (!isAccepted(function, result)) {
            return false;
        }
        if (budget != null) {
            budget.onPosted(flag == CompletionFlag.ALWAYS);
        }
        return true;
    }

    /** As {@link #isAccepted(String, int)}, for a receive, which is counted if it was accepted. */
    static boolean isReceiveAccepted(final String function, final int result, final CompletionBudget budget) {
        if (!isAccepted(function, result)) {
            return false;
        }
        if (budget != null) {
            budget.onReceivePosted();
        }
        return true;
    }

    /** librpma puts the length into 32 bits unseen. */
    static void checkLength(final long lengthBytes) {
        if (lengthBytes > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                "a message of " + lengthBytes + " bytes; at most " + MAX_MESSAGE_BYTES + " can be posted");
        }
    }

    private static boolean isRefused(final String function, final int result) {
        if (result == RpmaError.PROVIDER && LogSink.errorErrno() == Errno.ENOMEM) {
            LogSink.clearError();
            return false;
        }
        throw RpmaException.withoutErrno(function, result);
    }
}
