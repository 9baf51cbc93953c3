package io.ringpoll.pipeline;

import io.ringpoll.completion.WorkCompletion;

/**
 * A user's handler for the completions of one or more paths, called with one completion at a time.
 *
 * <p>All methods are called on the handler's own thread, in ring order.
 */
@FunctionalInterface
public interface CompletionHandler extends HandlerLifecycle {
    /**
     * Handles a completion.
     *
     * @param completion flyweight over the slot that the provider wrote; valid until this method returns
     * @param sequence   of the slot; increasing, with gaps for completions of other paths
     * @param endOfBatch true for the last completion of the handler's paths that is currently published: an opportunity to flush
     * @throws Exception passed to the handler's {@link FailurePolicy}
     */
    void onCompletion(WorkCompletion completion, long sequence, boolean endOfBatch) throws Exception;
}
