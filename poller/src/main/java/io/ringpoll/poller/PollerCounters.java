package io.ringpoll.poller;

import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * What a poller counts about itself, in Agrona counters that any thread or process may read.
 *
 * <p>The polling thread is the only writer.
 */
public final class PollerCounters {
    /** Type id of the number of polls. */
    public static final int POLLS_TYPE_ID = 100;
    /** Type id of the number of polls that found the queue empty. */
    public static final int EMPTY_POLLS_TYPE_ID = 101;
    /** Type id of the number of completions polled. */
    public static final int COMPLETIONS_TYPE_ID = 102;
    /** Type id of the number of duty cycles that found the ring full. */
    public static final int RING_FULL_TYPE_ID = 103;
    /** Type id of the number of queues that failed. */
    public static final int QUEUE_FAULTS_TYPE_ID = 104;

    final AtomicCounter polls;
    final AtomicCounter emptyPolls;
    final AtomicCounter completions;
    final AtomicCounter ringFull;
    final AtomicCounter queueFaults;

    /**
     * Allocates the counters.
     *
     * @param counters where they are allocated
     * @param roleName of the poller, for the labels
     */
    public PollerCounters(final CountersManager counters, final String roleName) {
        polls = counters.newCounter(roleName + ": polls", POLLS_TYPE_ID);
        emptyPolls = counters.newCounter(roleName + ": empty polls", EMPTY_POLLS_TYPE_ID);
        completions = counters.newCounter(roleName + ": completions", COMPLETIONS_TYPE_ID);
        ringFull = counters.newCounter(roleName + ": duty cycles that found the ring full", RING_FULL_TYPE_ID);
        queueFaults = counters.newCounter(roleName + ": queues that failed", QUEUE_FAULTS_TYPE_ID);
    }

    /**
     * Number of polls so far; polls less empty polls is the number of batches.
     *
     * @return polls
     */
    public long polls() {
        return polls.get();
    }

    /**
     * Number of polls so far that found the queue empty.
     *
     * @return polls
     */
    public long emptyPolls() {
        return emptyPolls.get();
    }

    /**
     * Number of completions polled and published so far.
     *
     * @return completions
     */
    public long completions() {
        return completions.get();
    }

    /**
     * Number of duty cycles so far in which polling stopped because the ring was full.
     *
     * @return duty cycles
     */
    public long ringFull() {
        return ringFull.get();
    }

    /**
     * Number of queues so far that failed and left the duty cycle.
     *
     * @return queues
     */
    public long queueFaults() {
        return queueFaults.get();
    }
}
