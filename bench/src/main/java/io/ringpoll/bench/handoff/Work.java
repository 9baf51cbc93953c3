package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.CompletionBatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * What a handler does with a completion: the same in every hand-off.
 *
 * <p>Used by the handler's thread; read by others after it has ended.
 */
public abstract class Work {
    /** As in the C baseline: up to 68 s, by three digits. */
    private static final long HIGHEST_NS = (1L << 36) - 1;

    /** Completions handled so far. */
    protected long completions;

    /** Created by its subclasses. */
    protected Work() {
    }

    /**
     * The work of a job's handler.
     *
     * @param job the job
     * @return new for each handler
     */
    public static Work of(final Job job) {
        return job.recordsLatency() ? ofLatency(job.recordFromNs(), job.recordUntilNs()) : new SumUp(job.stallUs());
    }

    /**
     * Records how long ago completions were due.
     *
     * @param fromNs  those due from here ...
     * @param untilNs ... to before here
     * @return new for each handler
     */
    public static Work ofLatency(final long fromNs, final long untilNs) {
        return new RecordLatency(fromNs, untilNs);
    }

    /**
     * Takes a completion.
     *
     * @param workRequestId its {@code wr_id}
     */
    public abstract void onCompletion(long workRequestId);

    /**
     * Takes a batch, as a handler would that keeps in registers what it can.
     *
     * @param batch of completions
     */
    public abstract void onBatch(CompletionBatch batch);

    /**
     * How many it has taken.
     *
     * @return completions
     */
    public long completions() {
        return completions;
    }

    /**
     * The sum of the {@code wr_id} that it has taken.
     *
     * @return 0 if it records latency
     */
    public abstract long sum();

    /**
     * The latencies that it has recorded.
     *
     * @return empty if it sums up
     */
    public abstract Histogram latencyNs();

    /** Adds up. */
    private static final class SumUp extends Work {
        private long stallNs;
        private long sum;

        SumUp(final long stallUs) {
            this.stallNs = TimeUnit.MICROSECONDS.toNanos(stallUs);
        }

        @Override
        public void onCompletion(final long workRequestId) {
            completions++;
            sum += workRequestId;
            stall();
        }

        @Override
        public void onBatch(final CompletionBatch batch) {
            final int size = batch.size();
            long batchSum = 0;
            for (int i = 0; i < size; i++) {
                batchSum += batch.completion(i).workRequestId();
            }
            completions += size;
            sum += batchSum;
            stall();
        }

        private void stall() {
            if (stallNs != 0) {
                LockSupport.parkNanos(stallNs);
                stallNs = 0;
            }
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

    /** Takes {@code wr_id} as the time at which the completion was due. */
    private static final class RecordLatency extends Work {
        private final long fromNs;
        private final long lengthNs;
        private final Histogram histogram = new Histogram(1, HIGHEST_NS, 3);

        RecordLatency(final long fromNs, final long untilNs) {
            this.fromNs = fromNs;
            this.lengthNs = untilNs - fromNs;
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
}
