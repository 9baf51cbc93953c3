package io.ringpoll.verify.run;

/**
 * One side of the main job, as the main thread sees it.
 */
interface Side {
    /** Whether it has done all that it was to do. */
    boolean isOver();

    /** Begins nothing new, and returns when everything posted has completed. */
    void finish() throws InterruptedException;

    /** Ends its connections; after {@link #finish()}. */
    void close() throws InterruptedException;
}
