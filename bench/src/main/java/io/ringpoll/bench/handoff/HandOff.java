package io.ringpoll.bench.handoff;

/**
 * A way to bring completions from a queue to handlers.
 */
public interface HandOff {
    /**
     * What results call it.
     *
     * @return for instance {@code "ringpoll"}
     */
    String label();

    /**
     * Starts its threads.
     *
     * @param job what is to be done
     * @return to be stopped
     */
    Running start(Job job);

    /** A hand-off whose threads run; used by one thread. */
    interface Running {
        /**
         * Completions that have been polled.
         *
         * @return a moment's value
         */
        long polled();

        /**
         * Completions that the slowest handler has done with.
         *
         * @return a moment's value
         */
        long handled();

        /**
         * Stops polling, lets the handlers finish what was polled, and ends the threads.
         *
         * @return what was done
         */
        Outcome stop();
    }
}
