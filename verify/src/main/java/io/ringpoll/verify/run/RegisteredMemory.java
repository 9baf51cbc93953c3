package io.ringpoll.verify.run;

import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The memory of one side of a connection: registered with librpma, and accessed by Java as a buffer.
 *
 * @param region for posting
 * @param buffer over the same bytes; must not be used after {@link #close()}
 */
record RegisteredMemory(LocalMemoryRegion region, UnsafeBuffer buffer) implements AutoCloseable {
    static RegisteredMemory allocate(final Peer peer, final int lengthBytes, final MemoryUsage... usages) {
        final LocalMemoryRegion region = peer.allocate(lengthBytes, usages);
        return new RegisteredMemory(region, new UnsafeBuffer(region.memoryAddress(), lengthBytes));
    }

    @Override
    public void close() {
        region.close();
    }
}
