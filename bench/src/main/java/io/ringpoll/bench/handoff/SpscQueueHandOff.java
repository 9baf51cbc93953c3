package io.ringpoll.bench.handoff;

import io.ringpoll.verbs.IbvWc;
import org.agrona.concurrent.UnsafeBuffer;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.SpscArrayQueue;

/** The SpscArrayQueue of JCTools: one object per completion, drained in batches. */
final class SpscQueueHandOff extends CopyingHandOff {
    private static final int DRAIN_LIMIT = 256;

    private final SpscArrayQueue<CompletionRecord> queue;
    private final MessagePassingQueue.Consumer<CompletionRecord> consumer = record -> work.onCompletion(record.workRequestId());

    SpscQueueHandOff(final Job job) {
        super(job);
        queue = new SpscArrayQueue<>(job.ringSize());
    }

    @Override
    protected void put(final UnsafeBuffer records, final int count) {
        for (int i = 0; i < count; i++) {
            final CompletionRecord record = CompletionRecord.copyOf(records, i * IbvWc.SIZE_BYTES);
            while (!queue.relaxedOffer(record)) {
                producerIdle.idle();
            }
        }
    }

    @Override
    protected int take() {
        return queue.drain(consumer, DRAIN_LIMIT);
    }
}
