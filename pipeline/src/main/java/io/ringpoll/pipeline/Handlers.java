package io.ringpoll.pipeline;

import io.ringpoll.internal.pipeline.SetHandler;
import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.poller.RingHandlers;
import java.util.List;

/**
 * The handlers of a pipeline, on their own threads or on the poller's, and their ring.
 */
interface Handlers extends RingHandlers {
    /** The ring to which the poller publishes. */
    PipelineRing ring();

    /** The handler of a set of connections, whose queues alone are polled; null if there is none. */
    SetHandler set();

    /** Makes the handlers count the completions of all paths, discarded ones included; before the start. */
    void countPaths(PollerCounterSet pathCounters);

    /** Starts the handlers' threads; each reports to the gate. */
    void start(StartGate gate);

    /**
     * Starts the handlers that run on the polling thread; called there, before the first round.
     *
     * @throws HandlerNotStarted if a handler cannot start
     */
    void onPollerStart() throws HandlerNotStarted;

    /** The calls of idle handlers on the polling thread; null if no such handler has a time-out. */
    IdleCalls idleCalls();

    /** Makes the calling thread the polling thread, which continues after another one. */
    void onHandOver();

    /**
     * Ends the handlers of the polling thread, and lets the others end after the published slots; the polling thread's last call.
     */
    void onPollerEnd();

    /** Marks a handler as halted, so that later stages do not wait for it; called on its thread. */
    void onHandlerHalted();

    /** The handlers' threads, in the order of description; empty if the handlers run on the polling thread. */
    List<Thread> threads();

    /** The handlers' counters, in the order of description. */
    List<HandlerCounters> counters();

    /** Index of a handler in the order of description; -1 if no handler has the name. */
    int indexOf(String roleName);

    /**
     * Whether all other handlers have passed a sequence. Not waited for are handlers on the calling thread, and handlers behind
     * such a handler or behind a halted one: these have advanced as far as they can.
     */
    boolean haveOthersPassed(long sequence);

    /** Whether the ring is full because of the calling thread's handler, which alone can free slots. */
    boolean isFullBehindCaller();

    /**
     * Lets each handler's thread end when it has passed a sequence, or immediately for -1. Nothing will be published after it.
     */
    void stopAfter(long sequence);

    /** Releases what the threads retain that have ended without running their handlers; after a failed start. */
    void endWithoutTask();

    /** Number of held slots; any thread, a snapshot. */
    long held();
}
