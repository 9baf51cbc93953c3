package io.ringpoll.pipeline;

import io.ringpoll.internal.os.Deadline;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/**
 * Runs the duty cycles of a pipeline's poller: on a {@link PollerThread}, or as a {@link PollerAgent} on threads of the user. Any
 * thread may call.
 */
interface Polling {
    /** The thread of the latest duty cycle; null for an agent that has not been started. */
    Thread thread();

    /** Starts the thread, or permits the start of the agent. */
    void start();

    /** Ends the poller after the current duty cycle. */
    void stop();

    /** Whether {@link #start} was called; the poller is then closed by its thread or its agent. */
    boolean hasStarted();

    /** Whether the poller has not ended. */
    boolean isAlive();

    /** Whether the calling thread is in a duty cycle, or in the start or end of the poller, and cannot wait for it. */
    boolean isCaller();

    /** Waits until a condition holds; returns false if it does not by the deadline. */
    boolean await(Deadline deadline, BooleanSupplier condition);

    /** Acquires a lock of which the holder may wait for the poller; returns false if it was not free by the deadline. */
    boolean tryLock(Deadline deadline, Lock lock);

    /** Waits for a round in which all queues were empty; returns false if there is none by the deadline. */
    boolean awaitEmptyRound(Deadline deadline);

    /** Makes the calling thread the invoking thread of an agent if the former one has ended; no effect otherwise. */
    void replaceEndedThread();

    /** Adds to an exception of the poller why an agent executed no command; otherwise returns the same exception. */
    TimeoutException explain(TimeoutException late);

    /** Waits for the end after {@link #stop}; returns false if the poller has not ended by the deadline. */
    boolean awaitEnd(Deadline deadline);

    /** Interval at which a wait for an empty round checks whether it can still succeed, in nanoseconds. */
    long checkNs();
}
