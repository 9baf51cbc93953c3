package io.ringpoll.bench.handoff;

import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.SpscArrayQueue;

/**
 * The SpscArrayQueue of JCTools with pooled objects: each poll's completions are added by {@code fill} and removed by
 * {@code drain}, the batch operations that its documentation names for throughput and less contention.
 *
 * @see <a href="https://github.com/JCTools/JCTools#java-concurrency-tools-for-the-jvm">JCTools: MessagePassingQueue</a>
 */
final class SpscQueueHandOff extends CopyingHandOff {
    private final SpscArrayQueue<CompletionEvent> queue;
    private final EventPool pool;
    private final MessagePassingQueue.Consumer<CompletionEvent> consumer;

    SpscQueueHandOff(final Job job, final Work work) {
        super(job, work);
        queue = new SpscArrayQueue<>(job.ringSize());
        // The consumer of a drain has taken out one element at a time.
        pool = new EventPool(queue.capacity(), 1);
        consumer = event -> event.handle(work);
    }

    @Override
    protected void put(final long records, final int count) {
        pool.startAt(records);
        int added = queue.fill(pool, count);
        while (added < count) {
            producerIdle.idle();
            added += queue.fill(pool, count - added);
        }
    }

    @Override
    protected int take() {
        return queue.drain(consumer, TAKE_LIMIT);
    }
}
