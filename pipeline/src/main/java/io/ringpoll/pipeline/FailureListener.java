package io.ringpoll.pipeline;

/**
 * Receives a notification when a pipeline halts on a failure.
 */
@FunctionalInterface
public interface FailureListener {
    /**
     * Called once, on the failed thread, before the poller's next duty cycle ends.
     *
     * @param pipeline   must still be closed
     * @param threadName of the failed handler or of the poller
     * @param failure    the cause
     */
    void onFailure(Pipeline pipeline, String threadName, Throwable failure);
}
