package io.ringpoll.connections;

import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The registered memory of one connection: a buffer for each receive, then one for each message that is sent.
 *
 * <p>Belongs to one connection at a time; the memory of an ended connection serves another one.
 */
final class MessageBuffers {
    private final ConnectionSizes sizes;
    private final LocalMemoryRegion region;
    private final UnsafeBuffer bytes;
    private final int strideBytes;
    private final int firstSend;

    MessageBuffers(final Peer peer, final ConnectionSizes sizes) {
        this.sizes = sizes;
        region = peer.allocate(sizes.memoryBytes(), MemoryUsage.SEND, MemoryUsage.RECEIVE);
        bytes = new UnsafeBuffer(region.memory().asByteBuffer());
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

    /** All memory of the connection. */
    UnsafeBuffer bytes() {
        return bytes;
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

    void release() {
        region.close();
    }
}
