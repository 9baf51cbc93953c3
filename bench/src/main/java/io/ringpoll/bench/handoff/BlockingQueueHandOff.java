package io.ringpoll.bench.handoff;

import io.ringpoll.verbs.IbvWc;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;

/** {@link java.util.concurrent.ArrayBlockingQueue}: one object per completion, enqueued and dequeued one by one. */
final class BlockingQueueHandOff extends CopyingHandOff {
    /** So that the consumer sees the end. */
    private static final long TAKE_TIMEOUT_MS = 10;

    private final ArrayBlockingQueue<CompletionRecord> queue;

    BlockingQueueHandOff(final Job job) {
        super(job);
        queue = new ArrayBlockingQueue<>(job.ringSize());
    }

    @Override
    protected void put(final UnsafeBuffer records, final int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            queue.put(CompletionRecord.copyOf(records, i * IbvWc.SIZE_BYTES));
        }
    }

    @Override
    protected int take() throws InterruptedException {
        final CompletionRecord record = queue.poll(TAKE_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        if (record == null) {
            return 0;
        }
        work.onCompletion(record.workRequestId());
        return 1;
    }
}
