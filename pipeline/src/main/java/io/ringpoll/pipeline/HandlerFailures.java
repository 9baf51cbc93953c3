package io.ringpoll.pipeline;

import java.util.HashSet;
import java.util.Set;
import org.agrona.ErrorHandler;

/**
 * Counts, records and logs the exceptions of one handler and applies its failure policy.
 *
 * <p>Belongs to the handler's thread. An exception is logged if none of its kind has been: kinds differ by class and place.
 */
final class HandlerFailures {
    /** Maximum number of logged kinds. */
    private static final int KINDS = 64;

    private static final System.Logger LOGGER = System.getLogger(HandlerFailures.class.getPackageName());

    private final String roleName;
    private final FailurePolicy policy;
    private final HandlerCounters counters;
    private final ErrorHandler errorLog;
    private final HandlerExceptionEvent probe = new HandlerExceptionEvent();
    private final Set<String> logged = new HashSet<>();

    HandlerFailures(final HandlerConfig config, final HandlerCounters counters, final ErrorHandler errorLog) {
        this.roleName = config.roleName();
        this.policy = config.failurePolicy();
        this.counters = counters;
        this.errorLog = errorLog;
    }

    /** Counts, records and logs an exception. */
    void record(final Throwable failure) {
        counters.onException();
        errorLog.onError(failure);
        log(failure);
        if (probe.isEnabled()) {
            final HandlerExceptionEvent event = new HandlerExceptionEvent();
            event.handler = roleName;
            event.exception = failure.getClass().getName() + ": " + ErrorRecorder.describe(failure);
            event.commit();
        }
    }

    /** Logs the first exception of its kind with its stack. */
    private void log(final Throwable failure) {
        try {
            if (logged.size() < KINDS && logged.add(kind(failure))) {
                LOGGER.log(System.Logger.Level.WARNING, "handler " + roleName + " threw " + failure.getClass().getName() +
                    "; more of this kind are only counted and recorded", failure);
            }
        } catch (final Throwable unprintable) {
            // The exception has been counted and recorded.
            return;
        }
    }

    private static String kind(final Throwable failure) {
        final StackTraceElement[] stack = failure.getStackTrace();
        return failure.getClass().getName() + (stack.length == 0 ? "" : " at " + stack[0]);
    }

    /**
     * Counts, records and logs an exception and applies the failure policy.
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
