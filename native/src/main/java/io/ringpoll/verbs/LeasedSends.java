package io.ringpoll.verbs;

import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.verbs.MessageSends;
import java.lang.foreign.MemorySegment;

/** Posts to the send queue of a queue pair by a lease of its address. Fast for the same thread. */
final class LeasedSends extends HotLease implements MessageSends {
    private static final int BAD_OFFSET = SingleRequest.ELEMENT_OFFSET + IbvWr.SGE_SIZE_BYTES;

    private final QueuePair queuePair;
    private final MemoryRegion region;
    private final MemorySegment function;
    private final long regionAddress;
    private final int localKey;

    LeasedSends(final QueuePair queuePair, final MemoryRegion region) {
        super(LeasedSends.class);
        this.queuePair = queuePair;
        this.region = region;
        function = queuePair.sendFunction();
        regionAddress = region.memoryAddress();
        localKey = region.localKey();
    }

    @Override
    protected long leasable() {
        return queuePair.leasableForSends(region);
    }

    @Override
    @HotCall
    public boolean post(final long offset, final int lengthBytes, final boolean isSignalled, final int immediate,
        final long workRequestId) {
        final long leased = enterLeasedByCaller();
        if (leased == 0) {
            return leaseAndPost(offset, lengthBytes, isSignalled, immediate, workRequestId);
        }
        final long request = arguments();
        SingleRequest.putSend(request, isSignalled ? SendList.SIGNALED : 0, immediate, workRequestId, regionAddress + offset,
            lengthBytes, localKey);
        final int errno = PostFunctions.ibv_post_send(
            PostFunctions.turn(turn(), lengthBytes, 1), function, leased, request, request + BAD_OFFSET);
        leave();
        return QueuePair.isAccepted("ibv_post_send", errno);
    }

    private boolean leaseAndPost(final long offset, final int lengthBytes, final boolean isSignalled, final int immediate,
        final long workRequestId) {
        queuePair.leaseSends(this);
        return queuePair.sendWithImmediate(lengthBytes == 0 ? null : region, lengthBytes == 0 ? 0 : offset, lengthBytes,
            isSignalled, immediate, workRequestId);
    }
}
