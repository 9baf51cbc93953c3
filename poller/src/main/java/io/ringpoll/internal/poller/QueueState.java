package io.ringpoll.internal.poller;

/**
 * The states of a completion queue in a poller's round.
 * <pre>
 *   ADDING --added--&gt; POLLED --fault published--&gt; FAILED
 *     |                 |                           |
 *     +---removed-------+----------removed----------+--&gt; REMOVED
 * </pre>
 *
 * <p>Only POLLED queues are in the round; a FAILED queue leaves it at the end of the duty cycle. A removal that overtakes the
 * addition also ends in REMOVED, and the addition then has no effect. A queue that is added again has a new state.
 */
enum QueueState {
    /** Registered, but not yet in the round. */
    ADDING,
    /** In the round. */
    POLLED,
    /** Not polled any more: its fault has been published. */
    FAILED,
    /** Removed permanently: the poller does not access the queue any more. */
    REMOVED
}
