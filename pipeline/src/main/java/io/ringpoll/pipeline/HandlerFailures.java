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
            event.exception = failure.getClass().getName() + ": " + ErrorRecorder.describe(failure);
            event.commit();
        }
    }

    /**
     * Counts, records and asks the policy.
     *
     * @param sequence of the slot that was handled last
     * @param shown    completions that the handler was shown in the call that failed
     * @throws HandlerHalted if the handler is to end
     */
    void onFailure(final Throwable failure, final long sequence, final long shown) throws HandlerHalted {
        record(failure);
        if (decide(failure, sequence) != FailurePolicy.Decision.CONTINUE) {
            throw new HandlerHalted(failure, sequence, shown);
        }
    }

    private FailurePolicy.Decision decide(final Throwable failure, final long sequence) {
        try {
            return policy.decide(failure, sequence);
        } catch (final Throwable undecided) {
            record(undecided);
            return FailurePolicy.Decision.HALT;
        }
    }
}
