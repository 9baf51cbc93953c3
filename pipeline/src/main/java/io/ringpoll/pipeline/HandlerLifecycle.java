package io.ringpoll.pipeline;

/**
 * Callbacks of a handler other than completions, all on its own thread.
 */
public interface HandlerLifecycle {
    /**
     * Called once before the first completion.
     *
     * @param slots to release slots early or to hold them; most handlers ignore it
     * @throws Exception fails the start of the pipeline
     */
    default void onStart(final SlotControl slots) throws Exception {
    }

    /**
     * Called before the completions of a batch, which ends with {@code endOfBatch}, or with the return of {@link
     * BatchHandler#onBatch}. A batch without completions of the handler's paths, and the fault of a queue, have no such call. It
     * costs nothing if it is not overridden.
     *
     * @param available for a {@link BatchHandler} and for a handler of all paths, the number of completions in the batch; for
     *     other handlers the number of slots from the first of the batch, on any path, to the last completion of the
     *     handler's paths, which is at least the number of their completions
     * @throws Exception passed to the handler's {@link FailurePolicy}; if it decides to continue, the batch is delivered
     */
    default void onBatchStart(final long available) throws Exception {
    }

    /**
     * Called when no slot was published for {@link HandlerOptions#idleTimeoutNs}, and again after each such time until
     * one is. On the polling thread it is not called while the pipeline is paused. It costs nothing between batches.
     *
     * @throws Exception passed to the handler's {@link FailurePolicy}, with the sequence of the last passed slot
     */
    default void onIdle() throws Exception {
    }

    /**
     * Called on handlers of the error path when a completion queue has failed and left the round, after the queue's earlier
     * completions.
     *
     * @param queueIndex as {@link io.ringpoll.completion.WorkCompletion#queueIndex()} of its completions
     * @param queueName  for messages
     * @param code       the negative result of the poll, or the reported code
     * @throws Exception passed to the handler's {@link FailurePolicy}
     */
    default void onQueueFault(final int queueIndex, final String queueName, final int code) throws Exception {
    }

    /**
     * As {@link #onQueueFault(int, String, int)}, with the attachment of the queue; calls that method unless it is overridden.
     *
     * @param queueIndex as {@link io.ringpoll.completion.WorkCompletion#queueIndex()} of its completions
     * @param queueName  for messages
     * @param code       the negative result of the poll, or the reported code
     * @param attachment as given when the queue was added, also if it is a {@link io.ringpoll.completion.QueuePairAttachments};
     *     null if none was
     * @throws Exception passed to the handler's {@link FailurePolicy}
     */
    default void onQueueFault(final int queueIndex, final String queueName, final int code, final Object attachment)
        throws Exception {
        onQueueFault(queueIndex, queueName, code);
    }

    /**
     * Called once after the last completion if {@link #onStart} has returned, including when the handler has halted or the start
     * of the pipeline has failed.
     *
     * @throws Exception counted and recorded
     */
    default void onShutdown() throws Exception {
    }
}
