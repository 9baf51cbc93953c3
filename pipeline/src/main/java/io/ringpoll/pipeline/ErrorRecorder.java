package io.ringpoll.pipeline;

import org.agrona.ErrorHandler;
import org.agrona.concurrent.errors.DistinctErrorLog;

/**
 * Records exceptions of user code in a pipeline's error log. Never throws, even if an exception cannot be printed; any thread.
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
                // Out of memory: the exception has been counted, at least.
                return;
            }
        }
    }

    /** The message of an exception, or its class name if it has none. */
    static String describe(final Throwable failure) {
        try {
            return failure.getMessage() == null ? failure.toString() : failure.getMessage();
        } catch (final Throwable unprintable) {
            return failure.getClass().getName();
        }
    }
}
