package io.ringpoll.poller;

/**
 * The states of a completion queue in a poller's round.
 *
 * <pre>
 *   ADDING --added--&gt; POLLED --fault published--&gt; FAILED
 *     |                 |                           |
 *     +---removed-------+----------removed----------+--&gt; REMOVED
 * </pre>
 *
 * <p>Only POLLED queues are in the round; a FAILED one leaves it at the end of the duty cycle. A removal that overtakes the
 * addition ends in REMOVED as well, and the addition has no effect then. The same queue can be added again afterwards; it gets a
 * new state of its own.
 */
enum QueueState {
    /** Registered; the poller has not taken it into the round yet. */
    ADDING,
    /** In the round. */
    POLLED,
    /** Polled no more: its fault has been published. */
    FAILED,
    /** Out of the round for good: the poller does not touch the queue any more. */
    REMOVED
}
