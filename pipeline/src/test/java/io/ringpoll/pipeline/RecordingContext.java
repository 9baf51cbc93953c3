package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.QueueAttachments;
import java.util.ArrayList;
import java.util.List;
import org.agrona.ErrorHandler;

/** Records the reports of handlers to their pipeline. */
final class RecordingContext implements HandlerContext {
    final List<Throwable> logged = new ArrayList<>();
    final List<String> halted = new ArrayList<>();
    Throwable cause;
    RuntimeException toThrow;
    /** Thrown by the error log, once. */
    RuntimeException logFailure;

    @Override
    public ErrorHandler errorLog() {
        return this::log;
    }

    @Override
    public String queueName(final int queueIndex) {
        return "queue " + queueIndex;
    }

    @Override
    public boolean hasTimestamps(final int queueIndex) {
        return false;
    }

    @Override
    public QueueAttachments attachments() {
        return new QueueAttachments();
    }

    @Override
    public void onHandlerHalted(final String roleName, final Throwable failure) {
        halted.add(roleName);
        cause = failure;
        if (toThrow != null) {
            throw toThrow;
        }
    }

    private void log(final Throwable failure) {
        final RuntimeException thrown = logFailure;
        logFailure = null;
        if (thrown != null) {
            throw thrown;
        }
        logged.add(failure);
    }
}
