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
     * Called on handlers of the error path when a completion queue has failed and left the round, after the queue's earlier
     * completions.
     *
     * @param queueIndex as {@link io.ringpoll.verbs.WorkCompletion#queueIndex()} of its completions
     * @param queueName  for messages
     * @param code       the negative result of the poll, or the reported code
     * @throws Exception passed to the handler's {@link FailurePolicy}
     */
    default void onQueueFault(final int queueIndex, final String queueName, final int code) throws Exception {
    }

    /**
     * As {@link #onQueueFault(int, String, int)}, with the attachment of the queue; calls that method unless it is overridden.
     *
     * @param queueIndex as {@link io.ringpoll.verbs.WorkCompletion#queueIndex()} of its completions
     * @param queueName  for messages
     * @param code       the negative result of the poll, or the reported code
     * @param attachment as given when the queue was added, also if it is a {@link io.ringpoll.verbs.QueuePairAttachments}; null
     *     if none was
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
