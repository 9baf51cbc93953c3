package io.ringpoll.pipeline;

import java.util.List;

/**
 * The handlers of a pipeline, wherever they run, and the ring by which the poller reaches them.
 */
interface Handlers {
    /** Where the poller publishes. */
    PipelineRing ring();

    /** Starts what runs beside the poller; each thread reports to the gate. */
    void start(StartGate gate);

    /**
     * Starts what runs on the polling thread; called there, before the first round.
     *
     * @throws HandlerNotStarted if a handler cannot start
     */
    void onPollerStart() throws HandlerNotStarted;

    /**
     * Ends what runs on the polling thread, and lets the others end once they have handled what was published; called there, as
     * the last thing it does.
     */
    void onPollerEnd();

    /** Notes that a handler has died, which those after it wait for no more; called on the thread of that handler. */
    void onHandlerDied();

    /** Their threads, in the order in which the handlers were described; none of those that run on the poller's. */
    List<Thread> threads();

    /** What is counted about each, in the order in which they were described. */
    List<HandlerCounters> counters();

    /** Position of a handler in that order; -1 if there is none of that name. */
    int indexOf(String roleName);

    /**
     * Whether all have passed a sequence, but for those that run on the calling thread, and those that wait for such a one or for
     * one that has died: these have come as far as they can.
     */
    boolean haveOthersPassed(long sequence);

    /** Whether the ring is full behind the calling thread's handler, so that only this one can make room. */
    boolean isFullBehindCaller();

    /** Lets each handler's thread end once it has passed a sequence; -1 for at once. Nothing will be published behind it. */
    void stopAfter(long sequence);

    /** How many slots they hold back; any thread, a moment's value. */
    long held();
}
