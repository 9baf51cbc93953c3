package io.ringpoll.rpma;

import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.LeaseTable;
import io.ringpoll.internal.verbs.PollTable;
import java.lang.foreign.Arena;
import org.agrona.concurrent.UnsafeBuffer;

/** Polls the queues of librpma in a poller's round. Owned by the thread that polls them. */
final class RpmaPollTable extends LeaseTable implements PollTable {
    private static final int CACHE_LINE_BYTES = 64;
    /** Some hundred nanoseconds of empty polls, for which a thread that waits for quiescence waits longer. */
    private static final int MOST_IN_TURN = 32;

    private final UnsafeBuffer polled =
        new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
    private final long countAddress = polled.addressOffset();

    RpmaPollTable() {
        super(RpmaPollTable.class);
    }

    @Override
    @HotCall
    public int poll(final int place, final long wcAddress, final int maxEntries) {
        final long cq = enterLeased(place);
        if (cq == 0) {
            return NOT_LEASED;
        }
        final int result = Librpma.COMPLETION.rpma_cq_get_wc(turn(), cq, maxEntries, wcAddress, countAddress);
        leave(1);
        return count(result);
    }

    @Override
    @HotCall
    public long pollInTurn(final int[] places, final int first, final int most, final long wcAddress, final int maxEntries) {
        final int end = first + Math.min(most, MOST_IN_TURN);
        int next = first;
        int turn = turn();
        int result;
        do {
            final long cq = enterLeased(places[next]);
            if (cq == 0) {
                return leaveBefore(next - first);
            }
            // Each call has a turn of its own, so that a series contains plain calls, too.
            result = Librpma.COMPLETION.rpma_cq_get_wc(turn, cq, maxEntries, wcAddress, countAddress);
            turn++;
            next++;
        } while (result == RpmaError.NO_COMPLETION && next < end);
        leave(next - first);
        return PollTable.result(next - first - 1, count(result));
    }

    private long leaveBefore(final int polls) {
        if (polls != 0) {
            leave(polls);
        }
        return PollTable.result(polls, NOT_LEASED);
    }

    private int count(final int result) {
        if (result == RpmaError.SUCCESS) {
            return polled.getInt(0);
        }
        return result == RpmaError.NO_COMPLETION ? 0 : RpmaCompletionQueue.failed(result);
    }
}
