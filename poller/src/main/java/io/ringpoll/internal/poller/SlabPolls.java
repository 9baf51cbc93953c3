package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.PollTable;
import io.ringpoll.poller.QueueFault;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Polls queues into slots of the slab that the poller has claimed. The results are those of {@link
 * io.ringpoll.completion.CompletionQueue#poll}; {@link QueueFault#POLL_THREW} after an exception, which the error handler gets.
 *
 * <p>Belongs to the polling thread.
 */
final class SlabPolls {
    private final WorkCompletions slab;
    private final long slabAddress;
    private final PollTally tally;
    private final ErrorHandler errorHandler;

    SlabPolls(final UnsafeBuffer slab, final PollTally tally, final ErrorHandler errorHandler) {
        this.slab = WorkCompletions.in(slab, 0, slab.capacity() / IbvWc.SIZE_BYTES);
        slabAddress = slab.addressOffset();
        this.tally = tally;
        this.errorHandler = errorHandler;
    }

    /** Polls a queue by its place; {@link PollTable#NOT_LEASED} if it is to be polled by {@link #pollAndLease}. */
    int pollAt(final PollTable table, final int place, final int offset, final int slots) {
        return table == null ? PollTable.NOT_LEASED : table.poll(place, slabAddress + offset, slots);
    }

    /** Polls queues in their order as {@link PollTable#pollInTurn}, and counts the empty polls before the last one. */
    long pollInTurn(final PollTable table, final int first, final int most, final int offset, final int slots) {
        if (table == null) {
            return PollTable.result(0, PollTable.NOT_LEASED);
        }
        final long result = table.pollInTurn(first, most, slabAddress + offset, slots);
        tally.onEmptyPolls(PollTable.emptyPolls(result));
        return result;
    }

    /** Polls a queue without an address at its place; negative: it has failed, now or, by a report, before. */
    int pollAndLease(final PolledQueue polled, final int offset, final int slots) {
        if (polled.faultCode != 0) {
            return polled.faultCode;
        }
        try {
            return polled.pollAndLease(slab, slabAddress, offset, slots);
        } catch (final Throwable thrown) {
            errorHandler.onError(thrown);
            return QueueFault.POLL_THREW;
        }
    }

    /** Retires polled completions from the budget of their queue, if its poll has not done that. */
    void retire(final PolledQueue polled, final int offset, final int count) {
        final CompletionBudget budget = polled.budget();
        if (budget != null) {
            budget.onPolledByPoller(slab, offset / IbvWc.SIZE_BYTES, count);
        }
    }
}
