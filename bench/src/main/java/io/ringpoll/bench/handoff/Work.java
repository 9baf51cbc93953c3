package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.CompletionBatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The work of a handler per completion: the same in every hand-off.
 *
 * <p>Used by the handler thread, on cache lines of its own; read by others after that thread has ended.
 */
public abstract class Work extends Padding {
    /** As in the C baseline: up to 68 s, with three significant digits. */
    private static final long HIGHEST_NS = (1L << 36) - 1;

    /** Completions handled so far. */
    protected long completions;

    /** Called by subclasses. */
    protected Work() {
    }

    /**
     * Creates the work of a handler.
     *
     * @param job the job
     * @return a new object for each handler
     */
    public static Work of(final Job job) {
        return job.recordsLatency() ? ofLatency(job.recordFromNs(), job.recordUntilNs()) :
            new PaddedSumUp(job.stallUs());
    }

    /**
     * Records the time since completions were due.
     *
     * @param fromNs  start of the recording time, inclusive
     * @param untilNs end of the recording time, exclusive
     * @return a new object for each handler
     */
    public static Work ofLatency(final long fromNs, final long untilNs) {
        return new PaddedRecordLatency(fromNs, untilNs);
    }

    /**
     * Begins a batch: before the first one it sleeps, if the job has pauses. Apart from {@link #onCompletion}: a call in the
     * compiled loop over completions would keep the handler's fields out of registers; C sleeps outside of its loop too.
     */
    public abstract void onBatchStart();

    /**
     * Handles a completion.
     *
     * @param workRequestId its {@code wr_id}
     */
    public abstract void onCompletion(long workRequestId);

    /**
     * Handles a completion with copied fields.
     *
     * @param workRequestId   its {@code wr_id}
     * @param statusAndOpcode the 8 bytes of {@code status} and {@code opcode}, which the measured work has no use for
     */
    public void onCopy(final long workRequestId, final long statusAndOpcode) {
        onCompletion(workRequestId);
    }

    /**
     * Begins and handles a batch, with its state in registers where possible.
     *
     * @param batch the completions
     */
    public abstract void onBatch(CompletionBatch batch);

    /**
     * The number of handled completions.
     *
     * @return completions
     */
    public long completions() {
        return completions;
    }

    /**
     * The sum of the {@code wr_id} of the handled completions.
     *
     * @return 0 if it records latency
     */
    public abstract long sum();

    /**
     * The recorded latencies.
     *
     * @return empty if it sums up
     */
    public abstract Histogram latencyNs();

    /** Sums up the {@code wr_id}. */
    private static class SumUp extends Work {
        private long stallNs;
        private long sum;

        SumUp(final long stallUs) {
            this.stallNs = TimeUnit.MICROSECONDS.toNanos(stallUs);
        }

        @Override
        public void onBatchStart() {
            if (stallNs != 0) {
                LockSupport.parkNanos(stallNs);
                stallNs = 0;
            }
        }

        @Override
        public void onCompletion(final long workRequestId) {
            completions++;
            sum += workRequestId;
        }

        @Override
        public void onBatch(final CompletionBatch batch) {
            onBatchStart();
            final int size = batch.size();
            long batchSum = 0;
            for (int i = 0; i < size; i++) {
                batchSum += batch.completion(i).workRequestId();
            }
            completions += size;
            sum += batchSum;
        }

        @Override
        public long sum() {
            return sum;
        }

        @Override
        public Histogram latencyNs() {
            return new Histogram(3);
        }
    }

    /** Interprets {@code wr_id} as the due time of the completion. */
    private static class RecordLatency extends Work {
        private final long fromNs;
        private final long lengthNs;
        private final Histogram histogram = new Histogram(1, HIGHEST_NS, 3);

        RecordLatency(final long fromNs, final long untilNs) {
            this.fromNs = fromNs;
            this.lengthNs = untilNs - fromNs;
        }

        @Override
        public void onBatchStart() {
            // Completions at a rate do not fill the ring.
        }

        @Override
        public void onCompletion(final long workRequestId) {
            completions++;
            if (Long.compareUnsigned(workRequestId - fromNs, lengthNs) < 0) {
                histogram.recordValue(Math.min(System.nanoTime() - workRequestId, HIGHEST_NS));
            }
        }

        @Override
        public void onBatch(final CompletionBatch batch) {
            for (int i = 0; i < batch.size(); i++) {
                onCompletion(batch.completion(i).workRequestId());
            }
        }

        @Override
        public long sum() {
            return 0;
        }

        @Override
        public Histogram latencyNs() {
            return histogram;
        }
    }

    /** With two cache lines behind the fields. */
    private static final class PaddedSumUp extends SumUp {
        long p16;
        long p17;
        long p18;
        long p19;
        long p20;
        long p21;
        long p22;
        long p23;
        long p24;
        long p25;
        long p26;
        long p27;
        long p28;
        long p29;
        long p30;
        long p31;

        PaddedSumUp(final long stallUs) {
            super(stallUs);
        }
    }

    /** With two cache lines behind the fields. */
    private static final class PaddedRecordLatency extends RecordLatency {
        long p16;
        long p17;
        long p18;
        long p19;
        long p20;
        long p21;
        long p22;
        long p23;
        long p24;
        long p25;
        long p26;
        long p27;
        long p28;
        long p29;
        long p30;
        long p31;

        PaddedRecordLatency(final long fromNs, final long untilNs) {
            super(fromNs, untilNs);
        }
    }
}
