package io.ringpoll.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.agrona.UnsafeApi;

/**
 * The memory of one work request with one element, which a queue posts again and again: for posts without a list.
 *
 * <p>Its fields are written by address: a segment would check its bounds and its lifetime for each of them.
 *
 * <p>Used between enter and leave of the queue's hot calls, so by one thread at a time.
 */
final class SingleRequest {
    private static final int ELEMENT_OFFSET = IbvWr.SEND_SIZE_BYTES;
    private static final int BAD_OFFSET = ELEMENT_OFFSET + IbvWr.SGE_SIZE_BYTES;
    private static final int SIZE_BYTES = 192;
    private static final int CACHE_LINE_BYTES = 64;

    private final MemorySegment memory = Arena.ofAuto().allocate(SIZE_BYTES, CACHE_LINE_BYTES);
    private final long address = memory.address();

    SingleRequest() {
        UnsafeApi.putLong(address + IbvWr.SG_LIST_OFFSET, address + ELEMENT_OFFSET);
    }

    /** Sets the fields of requests to both queues; a null region is for a request without data. */
    void set(final long workRequestId, final MemoryRegion region, final long regionAddress, final long lengthBytes) {
        UnsafeApi.putLong(address + IbvWr.WR_ID_OFFSET, workRequestId);
        UnsafeApi.putInt(address + IbvWr.NUM_SGE_OFFSET, region == null ? 0 : 1);
        UnsafeApi.putLong(address + ELEMENT_OFFSET + IbvWr.SGE_ADDR_OFFSET, regionAddress);
        UnsafeApi.putInt(address + ELEMENT_OFFSET + IbvWr.SGE_LENGTH_OFFSET, (int) lengthBytes);
        UnsafeApi.putInt(address + ELEMENT_OFFSET + IbvWr.SGE_LKEY_OFFSET, region == null ? 0 : region.localKey());
    }

    /** Sets the fields of requests to the send queue; the immediate data are in host byte order, null is no remote memory. */
    void set(final int opcode, final int flags, final int immediate, final RemoteMemory remote, final long remoteOffset) {
        UnsafeApi.putInt(address + IbvWr.OPCODE_OFFSET, opcode);
        UnsafeApi.putInt(address + IbvWr.SEND_FLAGS_OFFSET, flags);
        UnsafeApi.putInt(address + IbvWr.IMM_DATA_OFFSET, Integer.reverseBytes(immediate));
        if (remote != null) {
            UnsafeApi.putLong(address + IbvWr.REMOTE_ADDR_OFFSET, remote.address() + remoteOffset);
            UnsafeApi.putInt(address + IbvWr.RDMA_RKEY_OFFSET, remote.key());
        }
    }

    /** Posts it, within a hot call; the result is 0 or an errno value. */
    int post(final int turn, final MemorySegment function, final long queue, final long lengthBytes) {
        try {
            return PostFunctions.post(PostFunctions.turn(turn, lengthBytes, 1), function, queue, address, address + BAD_OFFSET);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }
}
