package io.ringpoll.internal.connections;

/**
 * The buffers for the messages that one connection sends, used in turn, and the ids of its sends.
 *
 * <p>Sends complete in the order of their posts. Every n-th send is signalled, where n is the signal interval, and its completion
 * releases the buffers of all sends before it. The ring has at least n buffers: when all are in use, a signalled send is among
 * them, and its completion will release some.
 *
 * <p>Belongs to one thread at a time, or is guarded by its owner's lock.
 */
public final class SendRing {
    private final int firstOffset;
    private final int endOffset;
    private final int strideBytes;
    private final int buffers;
    private final int signalInterval;
    /** Counts of {@link WorkRequestId}, as the next. */
    private long posted;
    private long completed;
    private int nextOffset;

    /**
     * Creates the ring of a new connection.
     *
     * @param memory         of the connection
     * @param signalInterval every how many sends one is signalled; a power of two
     */
    public SendRing(final MessageBuffers memory, final int signalInterval) {
        this.signalInterval = signalInterval;
        buffers = memory.sizes().sends();
        strideBytes = memory.strideBytes();
        firstOffset = memory.sendOffset(0);
        endOffset = memory.sendOffset(buffers);
        nextOffset = firstOffset;
    }

    /**
     * Number of buffers without a send whose completion is not known.
     *
     * @return 0 or more
     */
    public int free() {
        return buffers - WorkRequestId.messages(completed, posted);
    }

    /**
     * The place of the buffer for the next message.
     *
     * @return in the memory, in bytes
     */
    public int nextOffset() {
        return nextOffset;
    }

    /**
     * The id of the next send, if it is a message.
     *
     * @return for {@link #onMessage}
     */
    public long messageId() {
        return WorkRequestId.afterMessage(posted);
    }

    /**
     * The id of the next send, if it uses no buffer.
     *
     * @return for {@link #onOtherSend}
     */
    public long otherSendId() {
        return WorkRequestId.afterSend(posted);
    }

    /**
     * The id of a one-sided operation that is posted next; its completion completes all sends before it.
     *
     * @return the id
     */
    public long operationId() {
        return WorkRequestId.operation(posted);
    }

    /**
     * Whether a send is signalled.
     *
     * @param id of the send
     * @return true for one in so many
     */
    public boolean isSignaled(final long id) {
        return WorkRequestId.isMultipleOf(signalInterval, id);
    }

    /**
     * A message has been posted in the next buffer.
     *
     * @param id of {@link #messageId}
     */
    public void onMessage(final long id) {
        posted = id;
        nextOffset = nextOffset + strideBytes == endOffset ? firstOffset : nextOffset + strideBytes;
    }

    /**
     * A send without a buffer has been posted.
     *
     * @param id of {@link #otherSendId}
     */
    public void onOtherSend(final long id) {
        posted = id;
    }

    /**
     * Number of sends without a buffer whose completion is not known.
     *
     * @return 0 or more
     */
    public int otherSends() {
        return WorkRequestId.otherSends(completed, posted);
    }

    /**
     * A send or operation has completed, and so have all before it.
     *
     * @param id of the completion
     */
    public void onCompleted(final long id) {
        completed = WorkRequestId.counts(id);
    }
}
