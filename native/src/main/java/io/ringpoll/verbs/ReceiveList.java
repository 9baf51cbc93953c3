package io.ringpoll.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Prepared receives: {@code struct ibv_recv_wr}. They always generate a completion.
 *
 * <p>Used by one thread at a time.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_recv.3.html">ibv_post_recv(3)</a>
 */
public final class ReceiveList extends PostList {
    private ReceiveList(final Arena arena, final MemorySegment memory, final int capacity, final int maxElements) {
        super("receive list of " + capacity, arena, memory, capacity, maxElements, IbvWr.RECV_SIZE_BYTES);
    }

    /**
     * Allocates a list of receives without elements.
     *
     * @param capacity    number of receives, 1 to {@value PostList#MAX_CAPACITY}
     * @param maxElements maximum number of elements of each, 0 to {@value PostList#MAX_ELEMENTS}
     * @return to be closed; the queues that it is posted to need not be
     * @throws IllegalArgumentException if a number is out of range
     */
    public static ReceiveList allocate(final int capacity, final int maxElements) {
        return allocate(capacity, maxElements, IbvWr.RECV_SIZE_BYTES,
            (arena, memory) -> new ReceiveList(arena, memory, capacity, maxElements));
    }

    @Override
    int call(final int turn, final MemorySegment function, final long queue, final long request, final long bad) {
        return PostFunctions.ibv_post_recv(turn, function, queue, request, bad);
    }
}
