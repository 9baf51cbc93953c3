package io.ringpoll.pipeline;

/**
 * Unwinds a handler's loop after its policy has said halt.
 */
final class HandlerHalted extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient long sequence;

    HandlerHalted(final Throwable cause, final long sequence) {
        super("halted by its failure policy", cause, false, false);
        this.sequence = sequence;
    }

    /** The slot at which the handler ended; it counts as passed. */
    long sequence() {
        return sequence;
    }
}
