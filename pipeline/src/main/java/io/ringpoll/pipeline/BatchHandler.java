package io.ringpoll.pipeline;

/**
 * A user's handler for the completions of one or more paths, called with batches.
 *
 * <p>All methods are called on the handler's own thread, in ring order. Added by {@link PipelineBuilder#onAllBatch} and the
 * other methods for batches.
 */
@FunctionalInterface
public interface BatchHandler extends HandlerLifecycle {
    /**
     * Handles the published completions of the handler's paths, up to {@link HandlerOptions#maxBatch}.
     *
     * @param batch at least one completion; valid until this method returns
     * @throws Exception passed to the handler's {@link FailurePolicy}; if it decides to continue, the whole batch counts as
     *     handled
     */
    void onBatch(CompletionBatch batch) throws Exception;
}
