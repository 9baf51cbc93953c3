package io.ringpoll.bench.handoff;

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
