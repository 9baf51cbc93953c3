package io.ringpoll.pipeline;

/**
 * Unwinds a handler's loop after its policy has decided to halt.
 */
final class HandlerHalted extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient long sequence;
    private transient long handled;

    /**
     * Creates the exception.
     *
     * @param handled number of completions passed to the handler in the failed call
     */
    HandlerHalted(final Throwable cause, final long sequence, final long handled) {
        super("halted by its failure policy", cause, false, false);
        this.sequence = sequence;
        this.handled = handled;
    }

    /** Adds completions handled earlier in the same batch. */
    HandlerHalted after(final long handledBefore) {
        handled += handledBefore;
        return this;
    }

    /** Number of completions and faults in the handler's last batch, including those of the failed call. */
    long handled() {
        return handled;
    }

    /** The last slot of the handler; it counts as passed. */
    long sequence() {
        return sequence;
    }
}
