package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.verbs.MessageReceives;

/** Posts to the receive queue of a connection by a lease of its address. Used by one thread at a time. */
final class LeasedReceives extends HotLease implements MessageReceives {
    /** A few microseconds of posts, for which a safepoint waits longer. */
    private static final int MOST_IN_CALL = 32;

    private final Connection connection;
    private final LocalMemoryRegion region;
    /** Where the receives complete. */
    private final RpmaCompletionQueue queue;
    private final long regionAddress;

    LeasedReceives(final Connection connection, final LocalMemoryRegion region) {
        super(LeasedReceives.class);
        this.connection = connection;
        this.region = region;
        queue = connection.receiveCompletionQueue().orElse(connection.completionQueue());
        regionAddress = region.addressFor(0, 0);
    }

    @Override
    protected long leasable() {
        return connection.leasable(region, queue);
    }

    @Override
    @HotCall
    public int post(final long offset, final int lengthBytes, final long workRequestId, final int count) {
        final long leased = enterLeasedByCaller();
        if (leased == 0) {
            return connection.receive(this, region, offset, lengthBytes, workRequestId, count);
        }
        return Librpma.SERIES != null ? postSeries(leased, offset, lengthBytes, workRequestId, count) :
            postEach(leased, offset, lengthBytes, workRequestId, count);
    }

    private int postSeries(
        final long leased, final long offset, final int lengthBytes, final long workRequestId, final int count) {
        int accepted = 0;
        int result;
        do {
            final int number = Math.min(count - accepted, MOST_IN_CALL);
            final long series = Librpma.SERIES.ringpoll_recv_series(CallTurn.ofSeries(turn() + accepted, number), leased,
                regionAddress, offset + (long) accepted * lengthBytes, lengthBytes, workRequestId + accepted, number);
            accepted += SeriesFunctions.number(series);
            result = SeriesFunctions.last(series);
        } while (result == RpmaError.SUCCESS && accepted < count);
        leave(Math.max(1, accepted));
        return Posts.accepted("rpma_recv", result, accepted);
    }

    private int postEach(
        final long leased, final long offset, final int lengthBytes, final long workRequestId, final int count) {
        // Few variables: a call into C keeps no registers, so each is stored before it and loaded after it.
        long at = offset;
        long id = workRequestId;
        int accepted = 0;
        int result = RpmaError.SUCCESS;
        while (accepted < count) {
            // Each call has a turn of its own, so that a series contains plain calls, too.
            result = Librpma.POSTING.rpma_recv(turn() + accepted, leased, regionAddress, at, lengthBytes, id);
            if (result != RpmaError.SUCCESS) {
                break;
            }
            at += lengthBytes;
            id++;
            accepted++;
        }
        leave(Math.max(1, accepted));
        return Posts.accepted("rpma_recv", result, accepted);
    }
}
