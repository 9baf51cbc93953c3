package io.ringpoll.internal.poller;

import java.util.Arrays;

/**
 * The attachments of completion queues, by the index of the queue.
 *
 * <p>Written under the lock of the {@link QueueRegistry}. Any thread may read the attachment of a published completion that has
 * not been passed: it is set before the queue joins the round, and removed after the last completion has been passed.
 */
public final class QueueAttachments {
    private static final int INITIAL_CAPACITY = 16;

    private volatile Object[] byIndex = new Object[INITIAL_CAPACITY];

    /** Creates one without attachments. */
    public QueueAttachments() {
        // The array grows.
    }

    /**
     * The attachment of a queue.
     *
     * @param index of the queue
     * @return null if there is none
     */
    public Object get(final int index) {
        final Object[] attachments = byIndex;
        return index >= 0 && index < attachments.length ? attachments[index] : null;
    }

    /** Sets the attachment of a queue; null removes it. */
    void set(final int index, final Object attachment) {
        Object[] attachments = byIndex;
        if (index >= attachments.length && attachment != null) {
            attachments = Arrays.copyOf(attachments, Integer.highestOneBit(index) << 1);
        }
        if (index < attachments.length) {
            attachments[index] = attachment;
            byIndex = attachments;
        }
    }
}
