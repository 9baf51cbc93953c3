package io.ringpoll.verify.run;

import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcUsage;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The memory of one side of a connection: registered with librpma, and accessed by Java as a buffer.
 *
 * @param region for posting
 * @param buffer over the same bytes; must not be used after {@link #close()}
 */
record RegisteredMemory(RcMemory region, UnsafeBuffer buffer) implements AutoCloseable {
    static RegisteredMemory allocate(final RcPeer peer, final int lengthBytes, final RcUsage... usages) {
        final RcMemory region = peer.allocate(lengthBytes, usages);
        return new RegisteredMemory(region, new UnsafeBuffer(region.memoryAddress(), lengthBytes));
    }

    @Override
    public void close() {
        region.close();
    }
}
