package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.internal.poller.MemoryFault;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The counters of one handler, written by its thread unless a field states otherwise.
 */
final class HandlerCounters {
    static final long STATE_RUNNING = 1;
    static final long STATE_ENDED = 2;
    static final long STATE_HALTED = -1;

    final AtomicCounter position;
    final AtomicCounter handled;
    final AtomicCounter exceptions;
    final AtomicCounter lagMax;
    final AtomicCounter state;
    /** Written by the polling thread. */
    final AtomicCounter causedStalls;
    /** Written by the polling thread. */
    final AtomicCounter causedStallNs;

    HandlerCounters(final CountersManager counters, final String roleName) {
        position = CounterType.HANDLER_POSITION.allocate(counters, roleName);
        handled = CounterType.HANDLED.allocate(counters, roleName);
        exceptions = CounterType.HANDLER_EXCEPTIONS.allocate(counters, roleName);
        lagMax = CounterType.HANDLER_LAG_MAX.allocate(counters, roleName);
        state = CounterType.HANDLER_STATE.allocate(counters, roleName);
        causedStalls = CounterType.CAUSED_STALLS.allocate(counters, roleName);
        causedStallNs = CounterType.CAUSED_STALL_NS.allocate(counters, roleName);
    }

    /** Stores the state, unless the memory of the counters is gone: the end of a handler does not depend on it. */
    void onState(final long newState) {
        try {
            state.setRelease(newState);
            MemoryFault.check();
        } catch (final InternalError truncatedFile) {
            // Not shown any more.
            return;
        }
    }

    /** Counts an exception of the handler, unless the memory of the counters is gone. */
    void onException() {
        try {
            exceptions.incrementRelease();
            MemoryFault.check();
        } catch (final InternalError truncatedFile) {
            // Not shown any more.
            return;
        }
    }

    /** Records the number of published slots pending at the start of a batch; handler's thread only. */
    void onBatchBegin(final long lag) {
        if (lag > lagMax.getPlain()) {
            lagMax.setRelease(lag);
        }
    }

    /** Counts a completed batch; handler's thread only. */
    void onBatchEnd(final long passed, final long handledCount) {
        if (handledCount != 0) {
            handled.getAndAddRelease(handledCount);
        }
        position.setRelease(passed + 1);
    }

    /** Counts the batch in which the handler has halted, unless the memory of the counters is gone; handler's thread only. */
    void onHalt(final long passed, final long handledCount) {
        try {
            onBatchEnd(passed, handledCount);
            MemoryFault.check();
        } catch (final InternalError truncatedFile) {
            // Not shown any more.
            return;
        }
    }
}
