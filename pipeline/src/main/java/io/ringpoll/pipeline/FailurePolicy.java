package io.ringpoll.pipeline;

/**
 * Decides how a handler continues after an exception.
 *
 * <p>In every case the exception has first been counted and recorded in the pipeline's distinct error log.
 */
@FunctionalInterface
public interface FailurePolicy {
    /** Continues with the next completion. */
    FailurePolicy CONTINUE = (failure, sequence) -> Decision.CONTINUE;
    /** Halts the handler and thereby the pipeline. */
    FailurePolicy HALT = (failure, sequence) -> Decision.HALT;

    /** The decision of a policy. */
    enum Decision {
        /** The completion counts as handled; the next one is delivered. */
        CONTINUE,
        /** The handler ends, the poller stops within one duty cycle, and the pipeline reports the failure. */
        HALT
    }

    /**
     * Decides; called on the handler's thread. A policy that throws or returns null halts.
     *
     * @param failure  thrown by the handler
     * @param sequence of the completion for which it was thrown; that before the batch for {@link
     *     HandlerLifecycle#onBatchStart}
     * @return the decision
     */
    Decision decide(Throwable failure, long sequence);
}
