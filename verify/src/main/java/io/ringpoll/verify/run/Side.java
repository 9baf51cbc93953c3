package io.ringpoll.verify.run;

/** One side of the main job, as seen by the main thread. */
interface Side {
    /** Whether it has work: a server waits for its first client. */
    boolean hasBegun();

    /** Whether it has done all its work. */
    boolean isOver();

    /** Starts no further operation, and returns when all posted ones have completed. */
    void finish() throws InterruptedException;

    /** Ends its connections; after {@link #finish()}. */
    void close() throws InterruptedException;
}
