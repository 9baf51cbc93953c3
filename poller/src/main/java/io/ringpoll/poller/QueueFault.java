package io.ringpoll.poller;

import io.ringpoll.verbs.IbvWc;
import org.agrona.MutableDirectBuffer;

/**
 * A record in the ring that stands for the failure of a completion queue, so that the error path hears of it in order.
 *
 * <p>It has the layout of {@link IbvWc}, with a status that no provider gives:
 * <pre>
 *   wr_id        0
 *   status       {@link #STATUS}
 *   vendor_err   the negative result of the poll, or the code that was reported
 *   qp_num       0
 *   queue index  of the queue that failed
 * </pre>
 * Written by the polling thread, read by the handlers of the error path.
 */
public final class QueueFault {
    /** The status that marks the record; the verbs manual has no negative one. */
    public static final int STATUS = -1;
    /** Code of a queue whose poll threw an exception; what it threw is in the error log. */
    public static final int POLL_THREW = Integer.MIN_VALUE;

    /** Code of a queue that could not be asked for an event, or whose channel has failed. */
    public static final int NOTIFICATION_FAILED = Integer.MIN_VALUE + 1;

    /** Code of a queue of which the device has told that it has failed: {@code IBV_EVENT_CQ_ERR}. */
    public static final int CQ_ERROR_EVENT = Integer.MIN_VALUE + 2;

    private QueueFault() {
    }

    static void write(final MutableDirectBuffer slab, final int offset, final int queueIndex, final int code) {
        slab.setMemory(offset, IbvWc.SIZE_BYTES, (byte) 0);
        slab.putInt(offset + IbvWc.STATUS_OFFSET, STATUS);
        slab.putInt(offset + IbvWc.VENDOR_ERR_OFFSET, code);
        slab.putShort(offset + IbvWc.QUEUE_INDEX_OFFSET, (short) queueIndex);
    }
}
