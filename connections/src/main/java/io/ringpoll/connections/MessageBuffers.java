package io.ringpoll.connections;

import io.ringpoll.internal.os.MachineMemory;
import io.ringpoll.internal.os.OwnedMemory;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The registered memory of one connection: a buffer for each receive, then one for each message that is sent.
 *
 * <p>Belongs to one connection at a time; the memory of an ended connection serves another one. Each connection has a view of
 * its own, which is empty after {@link #revoke}. The memory remains mapped while a view, or a user's buffer that wraps one, is
 * reachable: a late access never reaches freed memory.
 */
final class MessageBuffers {
    private static final long PAGE_BYTES = 4096;
    private static final long LINES_OF_PAGE = PAGE_BYTES / ConnectionSizes.LINE_BYTES;
    /** Odd, so that it leads to all lines of a page, and no divisor of their number. */
    private static final long LINES_BETWEEN_BEGINS = 37;

    private final ConnectionSizes sizes;
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final LocalMemoryRegion region;
    private final int strideBytes;
    private final int firstSend;

    /**
     * Allocates and registers the memory.
     *
     * @param number of the connections that have memory already: each begins at another cache line of its page, as the buffers of
     *     many connections at the beginning of a page would share a few sets of the caches
     */
    MessageBuffers(final Peer peer, final ConnectionSizes sizes, final int number) {
        this.sizes = sizes;
        final long begin = number * LINES_BETWEEN_BEGINS % LINES_OF_PAGE * ConnectionSizes.LINE_BYTES;
        MachineMemory.requirePinnable(begin + sizes.memoryBytes());
        memory = OwnedMemory.allocateWhileReachable(begin + sizes.memoryBytes(), PAGE_BYTES);
        final MemorySegment buffers = memory.asSlice(begin);
        bytes = buffers.asByteBuffer();
        region = peer.register(buffers, MemoryUsage.SEND, MemoryUsage.RECEIVE);
        strideBytes = sizes.strideBytes();
        firstSend = sizes.receives() * strideBytes;
    }

    /** Posts all receives before the connection is made. */
    void postReceives(final ConnectionRequest request) {
        for (int buffer = 0; buffer < sizes.receives(); buffer++) {
            if (!request.receive(region, receiveOffset(buffer), strideBytes, WorkRequestId.receive(buffer))) {
                throw new IllegalStateException("the receive queue has no room for " + sizes.receives() + " receives");
            }
        }
    }

    LocalMemoryRegion region() {
        return region;
    }

    /** A view of all memory, for one connection. */
    UnsafeBuffer newView() {
        return new UnsafeBuffer(bytes);
    }

    /** Empties the view of an ended connection, so that its bounds checks refuse every access. */
    void revoke(final UnsafeBuffer view) {
        // The address remains, for a thread that has passed the bounds check.
        view.wrap(bytes, 0, 0);
    }

    int strideBytes() {
        return strideBytes;
    }

    int receiveOffset(final int buffer) {
        return buffer * strideBytes;
    }

    int sendOffset(final int buffer) {
        return firstSend + buffer * strideBytes;
    }

    /** Deregisters the memory and returns its pages to the system. */
    void release() {
        region.close();
        OwnedMemory.releasePages(memory);
    }
}
