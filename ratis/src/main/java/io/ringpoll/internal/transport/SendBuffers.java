package io.ringpoll.internal.transport;

import io.ringpoll.rpma.LocalMemoryRegion;
import java.nio.ByteBuffer;

/**
 * The send buffers of one connection. Guarded by the connection's lock, so that no thread writes to a buffer after the connection
 * has ended and its memory is reused.
 *
 * <p>Sends complete in the order of posting, so most sends are unsignalled and wake neither the poller nor a handler: a signalled
 * completion also releases the buffers of the sends before it.
 */
final class SendBuffers {
    private static final int QUARTERS = 4;

    private final LocalMemoryRegion region;
    private final ByteBuffer bytes;
    private final int bufferBytes;
    private final int[] free;
    private int freeCount;
    /** Slots in the order of posting; those from the first on have not been released. */
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

    /** Releases a buffer that was not posted. */
    void release(final int slot) {
        free[freeCount++] = slot;
    }

    /** Whether the next send must be signalled: periodically, and always when few buffers are free. */
    boolean isSignalNeeded() {
        return freeCount <= free.length / 2 || unsignalled >= free.length / QUARTERS;
    }

    /** Records a posted buffer. */
    void onPosted(final int slot, final boolean signalled) {
        posted[(firstPosted + postedCount++) % posted.length] = slot;
        unsignalled = signalled ? 0 : unsignalled + 1;
    }

    /** Releases the buffer of a completed send, and those of all earlier sends. */
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
