package io.ringpoll.pipeline;

import io.ringpoll.verbs.WorkCompletion;

/**
 * A batch handler in the place of a handler of single completions; its processor knows it and hands it batches.
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
        throw new IllegalStateException("a handler of batches is given to a pipeline, not called");
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
