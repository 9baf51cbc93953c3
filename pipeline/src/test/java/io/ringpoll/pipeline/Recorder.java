package io.ringpoll.pipeline;

import io.ringpoll.completion.WorkCompletion;
import java.util.ArrayList;
import java.util.List;

/** Records the calls of a handler. */
class Recorder implements CompletionHandler {
    final List<Long> ids = new ArrayList<>();
    final List<Long> batchEnds = new ArrayList<>();
    private volatile int size;

    @Override
    public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) throws Exception {
        ids.add(wc.workRequestId());
        if (endOfBatch) {
            batchEnds.add(wc.workRequestId());
        }
        size = ids.size();
    }

    int size() {
        return size;
    }

    void awaitSize(final int count) {
        while (size < count) {
            Thread.yield();
        }
    }
}
