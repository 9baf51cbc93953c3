package io.ringpoll.pipeline;

import org.agrona.ErrorHandler;
import org.agrona.concurrent.errors.DistinctErrorLog;

/**
 * Records exceptions of user code in a pipeline's error log. It never throws, also where an exception cannot be printed; any
 * thread.
 */
final class ErrorRecorder implements ErrorHandler {
    private final DistinctErrorLog log;

    ErrorRecorder(final DistinctErrorLog log) {
        this.log = log;
    }

    @Override
    public void onError(final Throwable failure) {
        try {
            log.record(failure);
        } catch (final Throwable unprintable) {
            try {
                log.record(new IllegalStateException(failure.getClass().getName() + ", which cannot be printed"));
            } catch (final Throwable lost) {
                // It is counted, at least: there is no memory to record it.
                return;
            }
        }
    }

    /** What an exception says, or its class if it says nothing. */
    static String describe(final Throwable failure) {
        try {
            return failure.getMessage() == null ? failure.toString() : failure.getMessage();
        } catch (final Throwable unprintable) {
            return failure.getClass().getName();
        }
    }
}
