package io.ringpoll.verify.run;

import io.ringpoll.verbs.WcStatus;
import io.ringpoll.verbs.WorkCompletion;

/**
 * Whoever posted a work request and wants to hear how it ended: one side of a connection.
 *
 * <p>Called on the thread of the handler that got the completion, before the slot is closed in the ledger; allocates nothing.
 */
interface SlotOwner {
    /**
     * Whether a work request may end so because its peer's process has ended: flushed, without an answer, or refused by a kernel
     * that had taken the memory from under the queue pair before the queue pair itself.
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
     * Hears of a completion on the path that its operation must take.
     *
     * @param slot       of the ledger, still open
     * @param completion in place
     * @return false if the payload that it brought is not the one that was sent
     */
    boolean onCompleted(int slot, WorkCompletion completion);

    /**
     * Hears that the slot has been closed; the last call for this work request.
     *
     * @param slot       of the ledger, which its poster may open again
     * @param completion in place
     */
    default void onClosed(final int slot, final WorkCompletion completion) {
    }

    /**
     * Whether a completion on the error path is what this work request must end as, although its operation has another path.
     *
     * @param slot       of the ledger
     * @param completion in place
     * @return true for a receive that a disconnect flushes
     */
    default boolean expectsError(final int slot, final WorkCompletion completion) {
        return false;
    }
}
