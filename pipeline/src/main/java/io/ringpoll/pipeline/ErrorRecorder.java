package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.MemoryFault;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.errors.DistinctErrorLog;

/**
 * Records exceptions of user code in a pipeline's error log and passes them to the user's error handler. Never throws, even if an
 * exception cannot be printed or the user's handler throws; any thread.
 */
final class ErrorRecorder implements ErrorHandler {
    /** Beyond are only cycles, in which the log would compare two exceptions of a kind forever. */
    private static final int MAX_CAUSES = 1000;

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
            log.record(finite(failure));
            MemoryFault.check();
        } catch (final Throwable unprintable) {
            try {
                log.record(new IllegalStateException(failure.getClass().getName() + ", which cannot be printed"));
                MemoryFault.check();
            } catch (final Throwable lost) {
                // Out of memory, or the log is in a truncated file: the exception has been counted, at least.
                return;
            }
        }
    }

    /** The exception, or one that names its class if its causes are a cycle. */
    private static Throwable finite(final Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; i < MAX_CAUSES; i++) {
            if (cause == null) {
                return failure;
            }
            cause = cause.getCause();
        }
        return new IllegalStateException(failure.getClass().getName() + ", whose causes are a cycle");
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
