package io.ringpoll.verify.run;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;

/**
 * The poster of work requests, one side of a connection, which is notified of their completions.
 *
 * <p>Called on the handler thread of the completion, before the slot is closed in the ledger; allocates nothing.
 */
interface SlotOwner {
    /**
     * Whether a work request may end with this status because the process of its peer has ended: flushed, unanswered, or rejected
     * by a kernel that released the memory before the queue pair.
     *
     * @param status of a completion, one of {@link WcStatus}
     */
    static boolean maySignalALostPeer(final int status) {
        return switch (status) {
            case WcStatus.WR_FLUSH_ERR, WcStatus.RETRY_EXC_ERR, WcStatus.REM_OP_ERR, WcStatus.REM_ACCESS_ERR -> true;
            default -> false;
        };
    }

    /**
     * Called for a completion on the path that its operation must take.
     *
     * @param slot       slot of the ledger, still open
     * @param completion in place
     * @return false if its payload differs from the sent one
     */
    boolean onCompleted(int slot, WorkCompletion completion);

    /**
     * Called after the slot has been closed; the last call for this work request.
     *
     * @param slot       slot of the ledger, which its poster may open again
     * @param completion in place
     */
    default void onClosed(final int slot, final WorkCompletion completion) {
    }

    /**
     * Whether a completion on the error path is correct for this work request, although its operation has another path.
     *
     * @param slot       slot of the ledger
     * @param completion in place
     * @return true for a receive that a disconnect flushes
     */
    default boolean expectsError(final int slot, final WorkCompletion completion) {
        return false;
    }
}
