package io.ringpoll.pipeline;

/**
 * The user's code for the completions of a path, a batch at a time.
 *
 * <p>All methods of one handler are called on its own thread, in the order of the ring. Made a handler by
 * {@link CompletionHandler#inBatches}.
 */
@FunctionalInterface
public interface BatchHandler extends HandlerLifecycle {
    /**
     * Takes all completions of its paths that have been published so far, up to {@link HandlerOptions#batchLimit}.
     *
     * @param batch at least one completion; valid until this method returns
     * @throws Exception as it likes; the handler's {@link FailurePolicy} decides what follows, and the whole batch counts as
     *     handled if it says to continue
     */
    void onBatch(CompletionBatch batch) throws Exception;
}
