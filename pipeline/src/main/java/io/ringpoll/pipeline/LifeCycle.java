package io.ringpoll.pipeline;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The current state of a pipeline. Any thread may read it, or change it along the transitions of {@link PipelineState}.
 */
final class LifeCycle {
    private final AtomicReference<PipelineState> state = new AtomicReference<>(PipelineState.STARTING);

    PipelineState state() {
        return state.get();
    }

    /**
     * Enters a state if the transition is permitted.
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
