package io.ringpoll.pipeline;

import io.ringpoll.verbs.WorkCompletion;
import java.util.Objects;

/**
 * The user's code for the completions of a path, one at a time.
 *
 * <p>All methods of one handler are called on its own thread, in the order of the ring.
 */
@FunctionalInterface
public interface CompletionHandler extends HandlerLifecycle {
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
     * Makes a handler of code that takes batches whole.
     *
     * @param handler of batches
     * @return to be given to a {@link PipelineBuilder} in the place of a handler of single completions
     */
    static CompletionHandler inBatches(final BatchHandler handler) {
        return new BatchingHandler(Objects.requireNonNull(handler, "the handler of batches is null"));
    }
}
