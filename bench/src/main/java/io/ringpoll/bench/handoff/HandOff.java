package io.ringpoll.bench.handoff;

import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A mechanism that passes completions from a queue to handlers. */
public interface HandOff {
    /**
     * Its label in results.
     *
     * @return for instance {@code "ringpoll"}
     */
    String label();

    /**
     * Whether completions wait between its threads, so that its handlers can be close behind the poller or trail.
     *
     * @return false for a loop that polls and handles
     */
    default boolean hasRing() {
        return true;
    }

    /**
     * Why it cannot run on this machine; it may be started and stopped to find out.
     *
     * @return a reason in one line; empty if it can
     */
    default Optional<String> unavailable() {
        return Optional.empty();
    }

    /**
     * The time that a start needs on a machine that is not busy.
     *
     * @return nanoseconds, with a margin
     */
    default long startTimeNs() {
        return TimeUnit.MILLISECONDS.toNanos(5);
    }

    /**
     * Starts its threads.
     *
     * @param job the job
     * @return to be stopped
     */
    Running start(Job job);

    /** A running hand-off; used by one thread. */
    interface Running {
        /**
         * Completions polled so far.
         *
         * @return the present count
         */
        long polled();

        /**
         * Completions that the slowest handler has handled.
         *
         * @return the present count
         */
        long handled();

        /**
         * Stops polling, lets the handlers finish the polled completions, and ends the threads.
         *
         * @return the outcome
         */
        Outcome stop();
    }
}
