package io.ringpoll.poller;

/**
 * What the poller has counted since it last wrote its counters.
 *
 * <p>Each counter has cache lines of its own, so that to count a batch in five of them takes longer than to publish it. Additions
 * to this tally cost next to nothing. The counters follow every {@value #CYCLES} duty cycles, after a batch with the next round
 * that is empty or finds the ring full, before a command of another thread, and before a sleep. Belongs to the polling thread.
 */
final class PollTally {
    /** Duty cycles after which the counters follow at the latest, a power of two. */
    static final int CYCLES = 16;

    private final PollerCounters counters;

    private int batches;
    private int emptyPolls;
    private int completions;
    private int receives;
    private int errors;
    /** Of the batches that came last, all of one size class. */
    private int sizeClass;
    private int batchesOfClass;
    private int batchMax;

    PollTally(final PollerCounters counters) {
        this.counters = counters;
    }

    /** Counts a poll that found nothing. */
    void onEmptyPoll() {
        emptyPolls++;
    }

    /** Counts a batch that has been published. */
    void onBatch(final int size, final int receiveCount, final int errorCount) {
        batches++;
        completions += size;
        receives += receiveCount;
        errors += errorCount;
        final int batchClass = PollerCounters.sizeClass(size);
        if (batchClass != sizeClass) {
            tellSizes();
            sizeClass = batchClass;
        }
        batchesOfClass++;
        if (size > batchMax) {
            batchMax = size;
        }
    }

    /** Whether there are batches that the counters do not know of. */
    boolean hasBatches() {
        return batches != 0;
    }

    /** Brings the counters up to now. */
    void tell() {
        if (batches != 0) {
            tellSizes();
            counters.onBatches(batches, completions, receives, errors, batchMax);
            batches = 0;
            completions = 0;
            receives = 0;
            errors = 0;
        }
        if (emptyPolls != 0) {
            counters.onEmptyPolls(emptyPolls);
            emptyPolls = 0;
        }
    }

    private void tellSizes() {
        if (batchesOfClass != 0) {
            counters.onBatchesOf(sizeClass, batchesOfClass);
            batchesOfClass = 0;
        }
    }
}
