package io.ringpoll.poller;

import io.ringpoll.completion.IbvWc;

/**
 * A record that reports the failure of a completion queue on the error path, in order with the completions.
 *
 * <p>The layout is that of {@link IbvWc}, with a status that no provider uses:
 * <pre>
 *   wr_id        0
 *   status       {@link #STATUS}
 *   vendor_err   the negative poll result, or the reported code
 *   qp_num       0
 *   queue index  index of the failed queue
 * </pre>
 *
 * <p>Written by the polling thread, read by the error path's handlers. A completion with this status, from a user's queue, is an
 * ordinary error: the ring marks the faults among its slots.
 */
public final class QueueFault {
    /** The status of the record; the verbs manual defines no negative status. */
    public static final int STATUS = -1;
    /** Code of an exception in a call of a queue: its poll, its budget, or about an event. The exception is in the error log. */
    public static final int POLL_THREW = Integer.MIN_VALUE;

    /** Code of a failed notification request or completion channel. */
    public static final int NOTIFICATION_FAILED = Integer.MIN_VALUE + 1;

    /** Code of a failure that the device reports: {@code IBV_EVENT_CQ_ERR}. */
    public static final int CQ_ERROR_EVENT = Integer.MIN_VALUE + 2;

    private QueueFault() {
    }
}
