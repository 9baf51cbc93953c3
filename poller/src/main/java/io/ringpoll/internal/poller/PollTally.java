package io.ringpoll.internal.poller;

/**
 * Counts in plain fields between two updates of the poller's counters.
 *
 * <p>Each counter occupies cache lines of its own, and updating several takes longer than publishing a batch. The tally is
 * flushed to the counters every {@value #CYCLES} duty cycles, in the first round after a batch that is empty or finds the ring
 * full, before a command, and before a sleep. Belongs to the polling thread.
 */
final class PollTally {
    /** Maximum number of duty cycles between two flushes, a power of two. */
    static final int CYCLES = 16;

    private final PollerCounterSet counters;

    private int batches;
    private int emptyPolls;
    /** Size class of the batches in {@link #batchesOfClass}. */
    private int sizeClass;
    private int batchesOfClass;
    private int batchMax;

    PollTally(final PollerCounterSet counters) {
        this.counters = counters;
    }

    /** Counts empty polls. */
    void onEmptyPolls(final int number) {
        emptyPolls += number;
    }

    /**
     * Counts published completions: batches of the maximum size, and a smaller one.
     *
     * @param fullBatches number of batches of the maximum size
     * @param limit       that size
     * @param partial     size of another batch; 0 if there is none
     */
    void onPublished(final int fullBatches, final int limit, final int partial) {
        if (fullBatches != 0) {
            onBatches(fullBatches, limit);
        }
        if (partial != 0) {
            onBatches(1, partial);
        }
        final int published = fullBatches * limit + partial;
        if (published != 0) {
            counters.published.getAndAddRelease(published);
        }
    }

    /** Counts published batches of one size. */
    private void onBatches(final int number, final int size) {
        batches += number;
        final int batchClass = PollerCounterSet.sizeClass(size);
        if (batchClass != sizeClass) {
            flushSizes();
            sizeClass = batchClass;
        }
        batchesOfClass += number;
        if (size > batchMax) {
            batchMax = size;
        }
    }

    /** Whether the tally contains batches that have not been flushed. */
    boolean hasBatches() {
        return batches != 0;
    }

    /** Adds the tally to the counters and clears it. */
    void flush() {
        if (batches != 0) {
            flushSizes();
            counters.onBatches(batches, batchMax);
            batches = 0;
        }
        if (emptyPolls != 0) {
            counters.onEmptyPolls(emptyPolls);
            emptyPolls = 0;
        }
    }

    private void flushSizes() {
        if (batchesOfClass != 0) {
            counters.onBatchesOf(sizeClass, batchesOfClass);
            batchesOfClass = 0;
        }
    }
}
