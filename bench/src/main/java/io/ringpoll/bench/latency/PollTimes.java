package io.ringpoll.bench.latency;

/**
 * The time at which each completion of a pipeline was polled, by its sequence.
 *
 * <p>Written by the polling thread before it publishes the completions; read by the handler thread after that, until it has
 * passed them.
 */
final class PollTimes {
    private final long[] polledNs;
    private final int mask;
    /** Sequence of the next completion: the first of a ring is 0, and each poll publishes the completions that it returns. */
    private long next;

    /**
     * Creates it.
     *
     * @param ringSize slots of the pipeline's ring, a power of two
     */
    PollTimes(final int ringSize) {
        polledNs = new long[ringSize];
        mask = ringSize - 1;
    }

    /** Notes the time of a poll that has returned some completions. */
    void polled(final int completions, final long nowNs) {
        for (int i = 0; i < completions; i++) {
            polledNs[(int) (next + i) & mask] = nowNs;
        }
        next += completions;
    }

    /** The time at which the poll of a completion returned. */
    long polledNs(final long sequence) {
        return polledNs[(int) sequence & mask];
    }
}
