package io.ringpoll.internal.transport;

import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.WorkRequestId;

/**
 * The buffers for the frames that one link sends, used in turn, and the ids of its sends.
 *
 * <p>Sends complete in the order of their posts. Every n-th send is signalled, where n is the signal interval, and its completion
 * releases the buffers of all sends before it. The ring has at least n buffers: when all are in use, a signalled send is among
 * them, and its completion will release some.
 *
 * <p>Guarded by the lock of the link.
 */
final class SendRing {
    private final int firstOffset;
    private final int endOffset;
    private final int strideBytes;
    private final int buffers;
    private final int signalInterval;
    /** Counts of {@link WorkRequestId}, as the next. */
    private long posted;
    private long completed;
    private int nextOffset;

    /** Creates the ring of a new link; one send is signalled in {@code signalInterval}, which is a power of two. */
    SendRing(final MessageBuffers memory, final int signalInterval) {
        this.signalInterval = signalInterval;
        buffers = memory.sizes().sends();
        strideBytes = memory.strideBytes();
        firstOffset = memory.sendOffset(0);
        endOffset = memory.sendOffset(buffers);
        nextOffset = firstOffset;
    }

    /** Number of buffers without a send whose completion is not known. */
    int free() {
        return buffers - WorkRequestId.messages(completed, posted);
    }

    /** The place of the buffer for the next frame, in the memory, in bytes. */
    int nextOffset() {
        return nextOffset;
    }

    /** The id of the next send, for {@link #onPosted}. */
    long nextId() {
        return WorkRequestId.afterMessage(posted);
    }

    /** Whether a send is signalled. */
    boolean isSignaled(final long id) {
        return WorkRequestId.isMultipleOf(signalInterval, id);
    }

    /** A frame has been posted in the next buffer. */
    void onPosted(final long id) {
        posted = id;
        nextOffset = nextOffset + strideBytes == endOffset ? firstOffset : nextOffset + strideBytes;
    }

    /** The id of a read that is posted next; its completion completes all sends before it. */
    long operationId() {
        return WorkRequestId.operation(posted);
    }

    /** A send or read has completed, and so have all sends before it. */
    void onCompleted(final long id) {
        completed = WorkRequestId.counts(id);
    }
}
