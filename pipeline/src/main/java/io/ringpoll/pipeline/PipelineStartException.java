package io.ringpoll.pipeline;

/**
 * A pipeline could not be started, and nothing of it runs: a thread could not be pinned, or a handler threw in its
 * {@link HandlerLifecycle#onStart}.
 */
public final class PipelineStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PipelineStartException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
