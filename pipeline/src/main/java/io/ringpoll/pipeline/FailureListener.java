package io.ringpoll.pipeline;

/**
 * Hears that a pipeline polls no more although nobody stopped it.
 */
@FunctionalInterface
public interface FailureListener {
    /**
     * Called once, on the thread that failed, before the poller's next duty cycle is over.
     *
     * @param pipeline   still to be closed
     * @param threadName of the handler that died, or of the poller
     * @param failure    why
     */
    void onFailure(Pipeline pipeline, String threadName, Throwable failure);
}
