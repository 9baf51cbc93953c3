package io.ringpoll.ratis.transport;

import io.ringpoll.rpma.LocalMemoryRegion;
import java.nio.ByteBuffer;

/**
 * The send buffers of one connection. Guarded by the connection's lock, so that nobody writes into one after the connection
 * has ended and the memory serves another.
 */
final class SendBuffers {
    private final LocalMemoryRegion region;
    private final ByteBuffer bytes;
    private final int bufferBytes;
    private final int[] free;
    private int freeCount;

    SendBuffers(final LocalMemoryRegion region, final int bufferBytes, final int count) {
        this.region = region;
        this.bufferBytes = bufferBytes;
        bytes = region.memory().asByteBuffer();
        free = new int[count];
        for (int i = 0; i < count; i++) {
            free[i] = count - 1 - i;
        }
        freeCount = count;
    }

    LocalMemoryRegion region() {
        return region;
    }

    int available() {
        return freeCount;
    }

    int take() {
        return free[--freeCount];
    }

    void giveBack(final int slot) {
        free[freeCount++] = slot;
    }

    long offset(final int slot) {
        return (long) slot * bufferBytes;
    }

    ByteBuffer buffer(final int slot) {
        return bytes.slice(slot * bufferBytes, bufferBytes);
    }
}
