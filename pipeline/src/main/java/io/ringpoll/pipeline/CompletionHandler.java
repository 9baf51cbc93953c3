package io.ringpoll.pipeline;

import io.ringpoll.verbs.WorkCompletion;

/**
 * The user's code for the completions of a path.
 *
 * <p>All methods of one handler are called on its own thread, in the order of the ring.
 */
@FunctionalInterface
public interface CompletionHandler {
    /**
     * Takes a completion.
     *
     * @param completion flyweight over the slot that the provider wrote; valid until this method returns
     * @param sequence   of the slot; grows along the ring, with gaps where completions took other paths
     * @param endOfBatch true if this is the last completion of this path that has been published so far: a good moment to flush
     * @throws Exception as it likes; the handler's {@link FailurePolicy} decides what follows
     */
    void onCompletion(WorkCompletion completion, long sequence, boolean endOfBatch) throws Exception;

    /**
     * Hears that a completion queue has failed and is polled no more; called on handlers of the error path, in order with the
     * completions that the queue gave before.
     *
     * @param queueIndex as {@link WorkCompletion#queueIndex()} of its completions
     * @param queueName  for people
     * @param code       the negative result of the poll
     * @throws Exception as it likes; the handler's {@link FailurePolicy} decides what follows
     */
    default void onQueueFault(final int queueIndex, final String queueName, final int code) throws Exception {
    }

    /** Called once on the handler's thread before the first completion. */
    default void onStart() {
    }

    /** Called once on the handler's thread after the last completion. */
    default void onShutdown() {
    }
}
