package io.ringpoll.pipeline;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The present state of a pipeline. Any thread reads it or changes it, along the transitions of {@link PipelineState}.
 */
final class LifeCycle {
    private final AtomicReference<PipelineState> state = new AtomicReference<>(PipelineState.STARTING);

    PipelineState state() {
        return state.get();
    }

    /**
     * Goes to a state, if the present one leads there.
     *
     * @return true if this call has changed the state
     */
    boolean advance(final PipelineState next) {
        PipelineState present = state.get();
        while (present.leadsTo(next)) {
            if (state.compareAndSet(present, next)) {
                return true;
            }
            present = state.get();
        }
        return false;
    }
}
