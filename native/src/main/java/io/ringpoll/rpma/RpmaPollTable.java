package io.ringpoll.rpma;

import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.LeaseTable;
import io.ringpoll.internal.verbs.PollTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Polls the queues of librpma in a poller's round. Owned by the thread that polls them.
 * <pre>
 * struct ringpoll_round {
 *     int (*get_wc)(...);
 *     struct rpma_cq *const *cqs;
 *     const int32_t *places;
 *     int32_t empty;
 * };
 * </pre>
 */
final class RpmaPollTable extends LeaseTable implements PollTable {
    private static final int CACHE_LINE_BYTES = 64;
    /** Some microseconds of empty polls at most, for which a safepoint and a thread that waits for quiescence wait longer. */
    private static final int MOST_IN_TURN = 32;

    private static final int GET_WC_OFFSET = 0;
    private static final int CQS_OFFSET = 8;
    private static final int PLACES_OFFSET = 16;
    private static final int EMPTY_OFFSET = 24;

    private final UnsafeBuffer polled =
        new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
    private final long countAddress = polled.addressOffset();
    private final MemorySegment round = Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES);
    private final long roundAddress = round.address();
    private final boolean inSeries;
    private MemorySegment places = MemorySegment.NULL;

    RpmaPollTable() {
        this(Librpma.SERIES != null);
    }

    /**
     * Creates a table without places.
     *
     * @param inSeries whether one call into C polls several queues
     */
    RpmaPollTable(final boolean inSeries) {
        super(RpmaPollTable.class);
        this.inSeries = inSeries;
        if (inSeries) {
            round.set(ValueLayout.JAVA_LONG, GET_WC_OFFSET, Librpma.SERIES.rpma_cq_get_wc());
            round.set(ValueLayout.JAVA_INT, EMPTY_OFFSET, RpmaError.NO_COMPLETION);
        }
    }

    @Override
    public void resize(final int number) {
        makeRoom(number);
        round.set(ValueLayout.JAVA_LONG, CQS_OFFSET, placesAddress());
    }

    @Override
    public void order(final int[] ordered, final int number) {
        if (places.byteSize() < (long) ordered.length * Integer.BYTES) {
            places = Arena.ofAuto().allocate((long) ordered.length * Integer.BYTES, CACHE_LINE_BYTES);
            round.set(ValueLayout.JAVA_LONG, PLACES_OFFSET, places.address());
        }
        MemorySegment.copy(ordered, 0, places, ValueLayout.JAVA_INT, 0, number);
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
    public long pollInTurn(final int first, final int most, final long wcAddress, final int maxEntries) {
        final int count = Math.min(most, MOST_IN_TURN);
        return inSeries ? pollInSeries(first, count, wcAddress, maxEntries) : pollEach(first, count, wcAddress, maxEntries);
    }

    @HotCall
    private long pollInSeries(final int first, final int count, final long wcAddress, final int maxEntries) {
        final int turn = enterLeasedSeries(count);
        final long result = Librpma.SERIES.ringpoll_poll_series(turn, roundAddress, first, count, wcAddress, maxEntries);
        final int last = SeriesFunctions.last(result);
        if (last < 0) {
            return leaveAfterFailure(SeriesFunctions.number(result), last);
        }
        leave(SeriesFunctions.number(result) + 1);
        return result;
    }

    private long leaveAfterFailure(final int emptyPolls, final int last) {
        if (last == NOT_LEASED) {
            if (emptyPolls == 0) {
                leaveUnpolled();
            }
            return leaveBefore(emptyPolls);
        }
        leave(emptyPolls + 1);
        return PollTable.result(emptyPolls, RpmaCompletionQueue.failed(last));
    }

    @HotCall
    private long pollEach(final int first, final int count, final long wcAddress, final int maxEntries) {
        final int end = first + count;
        int next = first;
        int turn = turn();
        int result;
        do {
            final long cq = enterLeased(places.getAtIndex(ValueLayout.JAVA_INT, next));
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
