package io.ringpoll.pipeline;

/**
 * Unwinds a handler's loop after its policy has said halt.
 */
final class HandlerHalted extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient long sequence;
    private transient long handled;

    /**
     * Creates the end of a handler.
     *
     * @param handled completions that the handler was shown in the call that failed
     */
    HandlerHalted(final Throwable cause, final long sequence, final long handled) {
        super("halted by its failure policy", cause, false, false);
        this.sequence = sequence;
        this.handled = handled;
    }

    /** Counts completions that the handler took before, in the same batch. */
    HandlerHalted after(final long handledBefore) {
        handled += handledBefore;
        return this;
    }

    /** How many completions and faults the handler took in its last batch, with those of the call that failed. */
    long handled() {
        return handled;
    }

    /** The slot at which the handler ended; it counts as passed. */
    long sequence() {
        return sequence;
    }
}
