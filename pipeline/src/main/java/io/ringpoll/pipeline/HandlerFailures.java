package io.ringpoll.pipeline;

import org.agrona.ErrorHandler;

/**
 * Counts and records the exceptions of one handler and applies its failure policy.
 *
 * <p>Belongs to the handler's thread.
 */
final class HandlerFailures {
    private final String roleName;
    private final FailurePolicy policy;
    private final HandlerCounters counters;
    private final ErrorHandler errorLog;
    private final HandlerExceptionEvent probe = new HandlerExceptionEvent();

    HandlerFailures(final HandlerConfig config, final HandlerCounters counters, final ErrorHandler errorLog) {
        this.roleName = config.roleName();
        this.policy = config.failurePolicy();
        this.counters = counters;
        this.errorLog = errorLog;
    }

    /** Counts and records an exception. */
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
     * Counts and records an exception and applies the failure policy.
     *
     * @param sequence of the slot handled last
     * @param shown    number of completions passed to the handler in the failed call
     * @throws HandlerHalted if the policy decides to halt
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
