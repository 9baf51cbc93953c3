package io.ringpoll.pipeline;

/**
 * What happens after a handler has thrown.
 *
 * <p>Whatever it decides, the exception has been counted and recorded in the pipeline's distinct error log before.
 */
@FunctionalInterface
public interface FailurePolicy {
    /** Goes on with the next completion. */
    FailurePolicy CONTINUE = (failure, sequence) -> Decision.CONTINUE;
    /** Ends the handler, and with it all polling. */
    FailurePolicy HALT = (failure, sequence) -> Decision.HALT;

    /** What a policy can decide. */
    enum Decision {
        /** The completion counts as handled, the next one follows. */
        CONTINUE,
        /** The handler ends; the poller stops within one duty cycle and the pipeline reports the failure. */
        HALT
    }

    /**
     * Decides; called on the handler's thread. A policy that throws or returns null halts.
     *
     * @param failure  what the handler threw
     * @param sequence of the completion it was thrown for
     * @return how to go on
     */
    Decision decide(Throwable failure, long sequence);
}
