package io.ringpoll.rpma;

import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.LeaseTable;
import io.ringpoll.internal.verbs.PollTable;
import java.lang.foreign.Arena;
import org.agrona.concurrent.UnsafeBuffer;

/** Polls the queues of librpma in a poller's round. Owned by the thread that polls them. */
final class RpmaPollTable extends LeaseTable implements PollTable {
    private static final int CACHE_LINE_BYTES = 64;

    private final UnsafeBuffer count =
        new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
    private final long countAddress = count.addressOffset();

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
        leave();
        if (result == RpmaError.SUCCESS) {
            return count.getInt(0);
        }
        return result == RpmaError.NO_COMPLETION ? 0 : RpmaCompletionQueue.failed(result);
    }
}
