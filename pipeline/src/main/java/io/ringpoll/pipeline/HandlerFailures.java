package io.ringpoll.pipeline;

import org.agrona.ErrorHandler;

/**
 * What becomes of an exception that a handler throws: it is counted, recorded, and its policy decides.
 *
 * <p>Belongs to the handler's thread.
 */
final class HandlerFailures {
    private final String roleName;
    private final FailurePolicy policy;
    private final HandlerCounters counters;
    private final ErrorHandler errorLog;
    private final HandlerExceptionEvent probe = new HandlerExceptionEvent();

    HandlerFailures(final HandlerSpec spec, final HandlerCounters counters, final ErrorHandler errorLog) {
        this.roleName = spec.roleName();
        this.policy = spec.failurePolicy();
        this.counters = counters;
        this.errorLog = errorLog;
    }

    /** Counts and records. */
    void record(final Throwable failure) {
        counters.exceptions.incrementRelease();
        errorLog.onError(failure);
        if (probe.isEnabled()) {
            final HandlerExceptionEvent event = new HandlerExceptionEvent();
            event.handler = roleName;
            event.exception = failure.toString();
            event.commit();
        }
    }

    /**
     * Counts, records and asks the policy.
     *
     * @throws HandlerHalted if the handler is to end
     */
    void onFailure(final Throwable failure, final long sequence) throws HandlerHalted {
        record(failure);
        if (policy.decide(failure, sequence) == FailurePolicy.Decision.HALT) {
            throw new HandlerHalted(failure, sequence);
        }
    }
}
