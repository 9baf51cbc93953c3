package io.ringpoll.pipeline;

import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * What a handler's thread counts about itself; that thread is the only writer.
 */
final class HandlerCounters {
    /** Type id of the number of completions handled. */
    static final int HANDLED_TYPE_ID = 200;
    /** Type id of the number of exceptions that the handler threw. */
    static final int EXCEPTIONS_TYPE_ID = 201;

    final AtomicCounter handled;
    final AtomicCounter exceptions;

    HandlerCounters(final CountersManager counters, final String roleName) {
        handled = counters.newCounter(roleName + ": completions", HANDLED_TYPE_ID);
        exceptions = counters.newCounter(roleName + ": exceptions", EXCEPTIONS_TYPE_ID);
    }
}
