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

    /** Ends what runs on the polling thread; called there, as the last thing it does. */
    void onPollerEnd();

    /** Their threads, in the order in which the handlers were described; none of those that run on the poller's. */
    List<Thread> threads();

    /** What is counted about each, in the order in which they were described. */
    List<HandlerCounters> counters();

    /** Position of a handler in that order; -1 if there is none of that name. */
    int indexOf(String roleName);

    /** Whether all but those that run on the calling thread have passed a sequence. */
    boolean haveOthersPassed(long sequence);

    /** Lets each handler's thread end once it has passed a sequence; -1 for at once. The poller has ended. */
    void stopAfter(long sequence);

    /** How many slots they hold back; any thread, a moment's value. */
    long held();
}
