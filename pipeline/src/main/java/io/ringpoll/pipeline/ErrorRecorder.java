package io.ringpoll.pipeline;

import org.agrona.ErrorHandler;
import org.agrona.concurrent.errors.DistinctErrorLog;

/**
 * Records exceptions of user code in a pipeline's error log and passes them to the user's error handler. Never throws, even if an
 * exception cannot be printed or the user's handler throws; any thread.
 */
final class ErrorRecorder implements ErrorHandler {
    private final DistinctErrorLog log;
    private final ErrorHandler user;

    ErrorRecorder(final DistinctErrorLog log, final ErrorHandler user) {
        this.log = log;
        this.user = user;
    }

    @Override
    public void onError(final Throwable failure) {
        record(failure);
        try {
            user.onError(failure);
        } catch (final Throwable thrown) {
            record(thrown);
        }
    }

    private void record(final Throwable failure) {
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
