package io.ringpoll.ratis.transport;

import io.ringpoll.rpma.LocalMemoryRegion;
import java.nio.ByteBuffer;

/**
 * The send buffers of one connection. Guarded by the connection's lock, so that nobody writes into one after the connection
 * has ended and the memory serves another.
 *
 * <p>Sends complete in the order they were posted, so that not each of them needs a completion, which would wake the poller and
 * a handler: one that is signalled frees those before it, too.
 */
final class SendBuffers {
    private static final int QUARTERS = 4;

    private final LocalMemoryRegion region;
    private final ByteBuffer bytes;
    private final int bufferBytes;
    private final int[] free;
    private int freeCount;
    /** Slots in the order they were posted: those from the first on have not been freed. */
    private final int[] posted;
    private int firstPosted;
    private int postedCount;
    private int unsignalled;

    SendBuffers(final LocalMemoryRegion region, final int bufferBytes, final int count) {
        this.region = region;
        this.bufferBytes = bufferBytes;
        bytes = region.memory().asByteBuffer();
        free = new int[count];
        for (int i = 0; i < count; i++) {
            free[i] = count - 1 - i;
        }
        freeCount = count;
        posted = new int[count];
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

    /** Gives a buffer back that was not posted. */
    void release(final int slot) {
        free[freeCount++] = slot;
    }

    /** Whether the next send must be signalled: now and then, and always when buffers get scarce, so that some come back. */
    boolean isSignalNeeded() {
        return freeCount <= free.length / 2 || unsignalled >= free.length / QUARTERS;
    }

    /** Takes note of a buffer that has been posted. */
    void onPosted(final int slot, final boolean signalled) {
        posted[(firstPosted + postedCount++) % posted.length] = slot;
        unsignalled = signalled ? 0 : unsignalled + 1;
    }

    /** Frees a buffer whose send has completed, and those of all sends before it. */
    void onSent(final int slot) {
        boolean last = false;
        while (!last && postedCount > 0) {
            final int done = posted[firstPosted];
            firstPosted = (firstPosted + 1) % posted.length;
            postedCount--;
            release(done);
            last = done == slot;
        }
    }

    long offset(final int slot) {
        return (long) slot * bufferBytes;
    }

    ByteBuffer buffer(final int slot) {
        return bytes.slice(slot * bufferBytes, bufferBytes);
    }
}
