package io.ringpoll.verbs;

import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.verbs.MessageReceives;
import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;

/** Posts to the receive queue of a queue pair by a lease of its address, several by one call. Fast for the same thread. */
final class LeasedReceives extends HotLease implements MessageReceives {
    /** Most requests of a chain; more would fit into the arguments of a call. */
    private static final int MOST_IN_CALL = 32;
    private static final int REQUEST_BYTES = IbvWr.RECV_SIZE_BYTES + IbvWr.SGE_SIZE_BYTES;
    private static final int BAD_OFFSET = MOST_IN_CALL * REQUEST_BYTES;

    private final QueuePair queuePair;
    private final MemoryRegion region;
    private final MemorySegment function;
    private final long regionAddress;
    private final int localKey;

    LeasedReceives(final QueuePair queuePair, final MemoryRegion region) {
        super(LeasedReceives.class);
        this.queuePair = queuePair;
        this.region = region;
        function = queuePair.receiveFunction();
        regionAddress = region.memoryAddress();
        localKey = region.localKey();
    }

    @Override
    protected long leasable() {
        return queuePair.leasableForReceives(region);
    }

    @Override
    @HotCall
    public int post(final long offset, final int lengthBytes, final long workRequestId, final int count) {
        final long leased = enterLeasedByCaller();
        if (leased == 0) {
            return leaseAndPost(offset, lengthBytes, workRequestId, count);
        }
        int accepted = 0;
        int calls = 0;
        int errno = 0;
        while (accepted < count && errno == 0) {
            final int number = Math.min(count - accepted, MOST_IN_CALL);
            final long first = arguments();
            chain(first, regionAddress + offset + (long) accepted * lengthBytes, lengthBytes, workRequestId + accepted, number);
            UnsafeApi.putLong(first + BAD_OFFSET, 0L);
            errno = PostFunctions.ibv_post_recv(turn() + calls, function, leased, first, first + BAD_OFFSET);
            calls++;
            accepted += errno == 0 ? number : acceptedOf(first, number);
        }
        leave(Math.max(1, calls));
        return QueuePair.accepted("ibv_post_recv", errno, accepted);
    }

    /** Requests of a chain before the one that was refused; none if the device does not name it. */
    private static int acceptedOf(final long first, final int number) {
        final long refused = (UnsafeApi.getLong(first + BAD_OFFSET) - first) / REQUEST_BYTES;
        return refused < 0 || refused >= number ? 0 : (int) refused;
    }

    private int leaseAndPost(final long offset, final int lengthBytes, final long workRequestId, final int count) {
        queuePair.leaseReceives(this);
        int accepted = 0;
        while (accepted < count && queuePair.receive(
            region, offset + (long) accepted * lengthBytes, lengthBytes, workRequestId + accepted)) {
            accepted++;
        }
        return accepted;
    }

    private void chain(
        final long first, final long address, final int lengthBytes, final long workRequestId, final int number) {
        long request = first;
        for (int i = 0; i < number; i++) {
            final long element = request + IbvWr.RECV_SIZE_BYTES;
            final long next = element + IbvWr.SGE_SIZE_BYTES;
            UnsafeApi.putLong(request + IbvWr.WR_ID_OFFSET, workRequestId + i);
            UnsafeApi.putLong(request + IbvWr.NEXT_OFFSET, i == number - 1 ? 0 : next);
            UnsafeApi.putLong(request + IbvWr.SG_LIST_OFFSET, element);
            UnsafeApi.putInt(request + IbvWr.NUM_SGE_OFFSET, 1);
            UnsafeApi.putLong(element + IbvWr.SGE_ADDR_OFFSET, address + (long) i * lengthBytes);
            UnsafeApi.putLong(element + IbvWr.SGE_LENGTH_OFFSET, SingleRequest.pair(lengthBytes, localKey));
            request = next;
        }
    }
}
