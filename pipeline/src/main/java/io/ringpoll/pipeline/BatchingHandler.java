package io.ringpoll.pipeline;

import io.ringpoll.verbs.WorkCompletion;

/**
 * Wraps a {@link BatchHandler}; the processor unwraps it and delivers batches.
 */
final class BatchingHandler implements CompletionHandler {
    private final BatchHandler handler;

    BatchingHandler(final BatchHandler handler) {
        this.handler = handler;
    }

    BatchHandler handler() {
        return handler;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        throw new IllegalStateException("a batch handler is called by a pipeline only");
    }

    @Override
    public void onStart(final SlotControl slots) throws Exception {
        handler.onStart(slots);
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) throws Exception {
        handler.onQueueFault(queueIndex, queueName, code);
    }

    @Override
    public void onShutdown() throws Exception {
        handler.onShutdown();
    }
}
