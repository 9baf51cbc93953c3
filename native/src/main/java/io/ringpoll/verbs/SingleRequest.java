package io.ringpoll.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import org.agrona.UnsafeApi;

/**
 * The memory of one work request with one element, which a queue posts again and again: for posts without a list.
 *
 * <p>Its fields are written by address: a segment would check its bounds and its lifetime for each of them.
 *
 * <p>Used between enter and leave of the queue's hot calls, so by one thread at a time.
 */
final class SingleRequest {
    static final int ELEMENT_OFFSET = IbvWr.SEND_SIZE_BYTES;
    private static final int BAD_OFFSET = ELEMENT_OFFSET + IbvWr.SGE_SIZE_BYTES;
    private static final int SIZE_BYTES = 192;
    private static final int CACHE_LINE_BYTES = 64;
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    private static final long LOWER_HALF = 0xFFFF_FFFFL;

    private final MemorySegment memory = Arena.ofAuto().allocate(SIZE_BYTES, CACHE_LINE_BYTES);
    private final long address = memory.address();

    SingleRequest() {
        UnsafeApi.putLong(address + IbvWr.SG_LIST_OFFSET, address + ELEMENT_OFFSET);
    }

    /** Sets all fields of a message with immediate data at an address, which is followed by its element. */
    static void putSend(final long request, final int flags, final int immediate, final long workRequestId,
        final long messageAddress, final int lengthBytes, final int localKey) {
        final long element = request + ELEMENT_OFFSET;
        UnsafeApi.putLong(request + IbvWr.WR_ID_OFFSET, workRequestId);
        UnsafeApi.putLong(request + IbvWr.NEXT_OFFSET, 0);
        UnsafeApi.putLong(request + IbvWr.SG_LIST_OFFSET, element);
        UnsafeApi.putLong(request + IbvWr.NUM_SGE_OFFSET, pair(lengthBytes == 0 ? 0 : 1, SendList.SEND_WITH_IMM));
        UnsafeApi.putLong(request + IbvWr.SEND_FLAGS_OFFSET, pair(flags, Integer.reverseBytes(immediate)));
        UnsafeApi.putLong(element + IbvWr.SGE_ADDR_OFFSET, messageAddress);
        UnsafeApi.putLong(element + IbvWr.SGE_LENGTH_OFFSET, pair(lengthBytes, localKey));
    }

    /** Sets the fields of a receive; a null region is for one without data. */
    void setReceive(final long workRequestId, final MemoryRegion region, final long regionAddress, final long lengthBytes) {
        UnsafeApi.putInt(address + IbvWr.NUM_SGE_OFFSET, region == null ? 0 : 1);
        set(workRequestId, region, regionAddress, lengthBytes);
    }

    /** Sets the fields of a request to the send queue; the immediate data are in host byte order, null is no remote memory. */
    void setSend(final int opcode, final int flags, final int immediate, final RemoteMemory remote, final long remoteOffset,
        final long workRequestId, final MemoryRegion region, final long regionAddress, final long lengthBytes) {
        UnsafeApi.putLong(address + IbvWr.NUM_SGE_OFFSET, pair(region == null ? 0 : 1, opcode));
        UnsafeApi.putLong(address + IbvWr.SEND_FLAGS_OFFSET, pair(flags, Integer.reverseBytes(immediate)));
        if (remote != null) {
            UnsafeApi.putLong(address + IbvWr.REMOTE_ADDR_OFFSET, remote.address() + remoteOffset);
            UnsafeApi.putInt(address + IbvWr.RDMA_RKEY_OFFSET, remote.key());
        }
        set(workRequestId, region, regionAddress, lengthBytes);
    }

    private void set(
        final long workRequestId, final MemoryRegion region, final long regionAddress, final long lengthBytes) {
        UnsafeApi.putLong(address + IbvWr.WR_ID_OFFSET, workRequestId);
        if (region != null) {
            UnsafeApi.putLong(address + ELEMENT_OFFSET + IbvWr.SGE_ADDR_OFFSET, regionAddress);
            UnsafeApi.putLong(address + ELEMENT_OFFSET + IbvWr.SGE_LENGTH_OFFSET, pair((int) lengthBytes, region.localKey()));
        }
    }

    /** Two fields that follow each other, to be written at once. */
    static long pair(final int first, final int second) {
        return LITTLE_ENDIAN ? first & LOWER_HALF | (long) second << Integer.SIZE :
            (long) first << Integer.SIZE | second & LOWER_HALF;
    }

    /** Posts it to a send queue, within a hot call; the result is 0 or an errno value. */
    int postSend(final int turn, final MemorySegment function, final long qp, final long lengthBytes) {
        try {
            return PostFunctions.ibv_post_send(
                PostFunctions.turn(turn, lengthBytes, 1), function, qp, address, address + BAD_OFFSET);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    /** The same to a receive queue; a receive copies nothing. */
    int postReceive(final int turn, final MemorySegment function, final long qp) {
        try {
            return PostFunctions.ibv_post_recv(turn, function, qp, address, address + BAD_OFFSET);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }
}
