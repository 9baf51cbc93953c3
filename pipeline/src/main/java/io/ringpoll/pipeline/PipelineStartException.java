package io.ringpoll.pipeline;

/**
 * Thrown when a pipeline could not start: a thread could not be pinned, or a handler threw in {@link HandlerLifecycle#onStart}.
 * Nothing of the pipeline is left running.
 */
public final class PipelineStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PipelineStartException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
