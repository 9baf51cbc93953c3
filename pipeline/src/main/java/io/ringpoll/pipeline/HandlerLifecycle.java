package io.ringpoll.pipeline;

/**
 * What every handler hears besides completions, on its own thread.
 */
public interface HandlerLifecycle {
    /**
     * Called once before the first completion.
     *
     * @param slots to release slots early or hold them back; of no use to most handlers
     * @throws Exception as it likes; the pipeline does not start then
     */
    default void onStart(final SlotControl slots) throws Exception {
    }

    /**
     * Hears that a completion queue has failed and is polled no more; called on handlers of the error path, in order with the
     * completions that the queue gave before.
     *
     * @param queueIndex as {@link io.ringpoll.verbs.WorkCompletion#queueIndex()} of its completions
     * @param queueName  for people
     * @param code       the negative result of the poll, or what was reported
     * @throws Exception as it likes; the handler's {@link FailurePolicy} decides what follows
     */
    default void onQueueFault(final int queueIndex, final String queueName, final int code) throws Exception {
    }

    /**
     * Called once after the last completion, if {@link #onStart} has returned: also when the handler has died, and when the
     * pipeline did not start as a whole.
     *
     * @throws Exception as it likes; it is counted and recorded
     */
    default void onShutdown() throws Exception {
    }
}
