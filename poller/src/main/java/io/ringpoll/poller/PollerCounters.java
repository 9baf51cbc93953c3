package io.ringpoll.poller;

import io.ringpoll.completion.WcStatus;

/**
 * The counters of a poller, that any thread may read.
 *
 * <p>Under load the counters of polls and batches lag by at most 16 duty cycles. They are exact after an empty round, and when
 * the poller has paused or ended. The number of completions is always exact.
 *
 * <p>The counters of the paths are those of the handlers: of a path's first handler, or of the first handler of all for a path
 * that is discarded. They lag by the completions that this handler has not passed, at most the size of the ring, and are exact
 * when it has passed all of them, for instance after a drain. Completions published after a handler has halted may be missing.
 */
public interface PollerCounters {
    /**
     * Number of polls so far. The difference between polls and empty polls is the number of batches.
     *
     * @return polls
     */
    long polls();

    /**
     * Number of polls so far that found the queue empty.
     *
     * @return polls
     */
    long emptyPolls();

    /**
     * Number of completions polled and published so far, on all paths.
     *
     * @return completions
     */
    long completions();

    /**
     * Number of failed completions so far.
     *
     * @return completions
     */
    long errors();

    /**
     * Number of completions so far with a status.
     *
     * @param status a value of {@link WcStatus} other than success
     * @return completions
     * @throws IllegalArgumentException if it is not
     */
    long errors(int status);

    /**
     * Number of successful receives so far.
     *
     * @return completions
     */
    long receives();

    /**
     * Number of successful sends, writes, reads, flushes and atomics so far.
     *
     * @return completions
     */
    long sendWrites();

    /**
     * Number of duty cycles so far in which polling stopped because the ring was full.
     *
     * @return duty cycles
     */
    long ringFull();

    /**
     * Number of times so far that the ring became full.
     *
     * @return stalls
     */
    long ringFullStalls();

    /**
     * Time so far for which the ring was full.
     *
     * @return nanoseconds
     */
    long ringFullNs();

    /**
     * Number of queues so far that failed and left the round.
     *
     * @return queues
     */
    long queueFaults();

    /**
     * The longest duty cycle so far. A spinning poller measures long duty cycles individually and short ones in windows; the
     * value of a window is its mean.
     *
     * @return nanoseconds; 0 if stalls are not tracked
     */
    long dutyCycleMaxNs();

    /**
     * Number of duty cycles so far that took longer than the threshold.
     *
     * @return duty cycles; 0 if stalls are not tracked
     */
    long dutyCyclesOver();

    /**
     * Number of times so far that the poller slept on completion events.
     *
     * @return sleeps
     */
    long sleeps();

    /**
     * Number of sleeps so far that ended by an event after which all queues were empty.
     *
     * @return sleeps
     */
    long spuriousWakeups();

    /**
     * Number of completion events taken so far.
     *
     * @return events
     */
    long events();

    /**
     * Sum of the budgets of the polled queues.
     *
     * @return completions
     */
    long budgetDepth();

    /**
     * Number of work requests in flight on the polled queues with a budget, as the poller last read it.
     *
     * @return work requests
     */
    long budgetInFlight();

    /**
     * Number of posts that the budgets of the polled queues have refused, as the poller last read it.
     *
     * @return posts
     */
    long budgetRefused();
}
