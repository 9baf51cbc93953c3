package io.ringpoll.pipeline;

import java.util.ArrayList;
import java.util.List;
import org.agrona.ErrorHandler;

/** Records what handlers report to their pipeline. */
final class RecordingContext implements HandlerContext {
    final List<Throwable> logged = new ArrayList<>();
    final List<String> halted = new ArrayList<>();
    Throwable cause;
    RuntimeException toThrow;

    @Override
    public ErrorHandler errorLog() {
        return logged::add;
    }

    @Override
    public String queueName(final int queueIndex) {
        return "queue " + queueIndex;
    }

    @Override
    public void onHandlerHalted(final String roleName, final Throwable failure) {
        halted.add(roleName);
        cause = failure;
        if (toThrow != null) {
            throw toThrow;
        }
    }
}
