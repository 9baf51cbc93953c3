package io.ringpoll.internal.connections;

import io.ringpoll.internal.os.MachineMemory;
import io.ringpoll.internal.os.OwnedMemory;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcUsage;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The registered memory of one connection: a buffer for each receive, then one for each message that is sent.
 *
 * <p>Belongs to one connection at a time; its {@link BufferPool} passes the memory of an ended connection to another one. Each
 * connection has a view of its own, which is empty after {@link #revoke}. The memory remains mapped while a view, or a user's
 * buffer that wraps one, is reachable: a late access never reaches freed memory.
 */
public final class MessageBuffers {
    private static final long PAGE_BYTES = 4096;
    private static final long LINES_OF_PAGE = PAGE_BYTES / BufferSizes.LINE_BYTES;
    /** Odd, so that it leads to all lines of a page, and no divisor of their number. */
    private static final long LINES_BETWEEN_BEGINS = 37;

    private final BufferSizes sizes;
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final RcMemory region;
    private final int strideBytes;
    private final int firstSend;

    /**
     * Allocates and registers the memory.
     *
     * @param number of the connections that have memory already: each begins at another cache line of its page, as the buffers of
     *     many connections at the beginning of a page would share a few sets of the caches
     */
    MessageBuffers(final RcPeer peer, final BufferSizes sizes, final int number) {
        this.sizes = sizes;
        final long begin = number * LINES_BETWEEN_BEGINS % LINES_OF_PAGE * BufferSizes.LINE_BYTES;
        MachineMemory.requirePinnable(begin + sizes.memoryBytes());
        memory = OwnedMemory.allocateWhileReachable(begin + sizes.memoryBytes(), PAGE_BYTES);
        final MemorySegment buffers = memory.asSlice(begin);
        bytes = buffers.asByteBuffer();
        region = peer.register(buffers, RcUsage.SEND, RcUsage.RECEIVE);
        strideBytes = sizes.strideBytes();
        firstSend = sizes.receives() * strideBytes;
    }

    /**
     * Posts all receives before the connection is made.
     *
     * @param request of the connection
     * @param begin   of its ids, of {@link WorkRequestId#begin}
     * @throws IllegalStateException if its receive queue has not enough room
     */
    public void postReceives(final RcRequest request, final long begin) {
        for (int buffer = 0; buffer < sizes.receives(); buffer++) {
            if (!request.receive(region, receiveOffset(buffer), strideBytes, WorkRequestId.receive(begin, buffer))) {
                throw new IllegalStateException("the receive queue has no room for " + sizes.receives() + " receives");
            }
        }
    }

    /**
     * The registration of all memory.
     *
     * @return for sends and receives
     */
    public RcMemory region() {
        return region;
    }

    /**
     * The sizes of the memory.
     *
     * @return as given to the pool
     */
    public BufferSizes sizes() {
        return sizes;
    }

    /**
     * A view of all memory.
     *
     * @return for one connection
     */
    public UnsafeBuffer newView() {
        return new UnsafeBuffer(bytes);
    }

    /**
     * Empties the view of an ended connection, so that its bounds checks refuse every access.
     *
     * @param view of {@link #newView}
     */
    public void revoke(final UnsafeBuffer view) {
        // The address remains, for a thread that has passed the bounds check.
        view.wrap(bytes, 0, 0);
    }

    /**
     * A part of the memory.
     *
     * @param offset      in bytes
     * @param lengthBytes in bytes
     * @return from 0 to the length
     */
    public ByteBuffer slice(final int offset, final int lengthBytes) {
        return bytes.slice(offset, lengthBytes);
    }

    /**
     * Length of each buffer.
     *
     * @return in bytes
     */
    public int strideBytes() {
        return strideBytes;
    }

    /**
     * The place of a receive's buffer.
     *
     * @param buffer number from 0
     * @return in bytes
     */
    public int receiveOffset(final int buffer) {
        return buffer * strideBytes;
    }

    /**
     * The place of a buffer for a message to send.
     *
     * @param buffer number from 0
     * @return in bytes
     */
    public int sendOffset(final int buffer) {
        return firstSend + buffer * strideBytes;
    }

    /** Deregisters the memory and returns its pages to the system. */
    void release() {
        region.close();
        OwnedMemory.releasePages(memory);
    }
}
