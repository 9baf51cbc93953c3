package io.ringpoll.internal.pipeline;

import org.agrona.concurrent.Agent;

/**
 * A poller that threads of the user invoke, as a layer above the pipeline sees it: whether a wait on the calling thread is
 * possible, and who makes the duty cycles meanwhile. Any thread may call.
 */
public interface InvokedAgent extends Agent {
    @Override
    void onStart();

    @Override
    int doWork();

    @Override
    void onClose();

    /**
     * Whether the calling thread has made the latest duty cycle.
     *
     * @return false before the start and after the end
     */
    boolean isInvoker();

    /**
     * Whether the calling thread is in a duty cycle, or in the start or end of the poller, and cannot wait for it.
     *
     * @return true in handlers and tasks of this thread
     */
    boolean isCaller();

    /**
     * Whether duty cycles are made, or can be made.
     *
     * @return true from the start to the end
     */
    boolean isStarted();

    /**
     * Whether the poller has not ended.
     *
     * @return false after the end; no callback runs then
     */
    boolean isAlive();

    /**
     * Makes a duty cycle for a wait on the invoking thread, which no other thread would make.
     *
     * @return true if there was work; false also on other threads
     */
    boolean makeOwnWork();

    /** Makes the calling thread the invoking thread if the former one has ended; no effect otherwise. */
    void replaceEndedThread();

    /**
     * Number of duty cycles that have begun.
     *
     * @return a snapshot
     */
    long cycles();

    /**
     * Makes the calling thread the invoking thread if no duty cycle has begun since a call of {@link #cycles()}, and none is
     * under way; no effect otherwise. The former thread becomes the invoking thread again by its next duty cycle.
     *
     * @param since the result of that call
     */
    void replaceIdleThread(long since);

    /**
     * Begins work of the invoking thread between two duty cycles, during which no other thread takes over; not within a duty
     * cycle. {@link #release()} follows.
     *
     * @return false if the calling thread is no longer the invoking thread, or the poller has ended; then nothing has begun
     */
    boolean tryHold();

    /** Ends the work that {@link #tryHold()} has begun. */
    void release();
}
