package io.ringpoll.rpma;

import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.verbs.MessageSends;

/** Posts to the send queue of a connection by a lease of its address. Used by one thread at a time. */
final class LeasedSends extends HotLease implements MessageSends {
    private final Connection connection;
    private final LocalMemoryRegion region;
    private final long regionAddress;

    LeasedSends(final Connection connection, final LocalMemoryRegion region) {
        super(LeasedSends.class);
        this.connection = connection;
        this.region = region;
        regionAddress = region.addressFor(0, 0);
    }

    @Override
    protected long leasable() {
        return connection.leasable(region, connection.completionQueue());
    }

    @Override
    @HotCall
    public boolean post(final long offset, final int lengthBytes, final boolean isSignalled, final int immediate,
        final long workRequestId) {
        final long leased = enterLeasedByCaller();
        if (leased == 0) {
            return postAndLease(offset, lengthBytes, isSignalled, immediate, workRequestId);
        }
        // librpma takes no offset without a region.
        final int result = Librpma.POSTING.rpma_send_with_imm(turn(), leased, lengthBytes == 0 ? 0 : regionAddress,
            lengthBytes == 0 ? 0 : offset, lengthBytes, isSignalled ? Posts.ALWAYS : Posts.ON_ERROR, immediate, workRequestId);
        leave();
        return Posts.isAccepted("rpma_send_with_imm", result, connection);
    }

    private boolean postAndLease(final long offset, final int lengthBytes, final boolean isSignalled, final int immediate,
        final long workRequestId) {
        return connection.sendWithImmediate(this, lengthBytes == 0 ? null : region, lengthBytes == 0 ? 0 : offset, lengthBytes,
            isSignalled ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, immediate, workRequestId);
    }
}
