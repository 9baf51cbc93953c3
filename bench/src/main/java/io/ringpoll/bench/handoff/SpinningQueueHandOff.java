package io.ringpoll.bench.handoff;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * The bounded queue of the JDK without blocking: the producer repeats {@code offer}, the consumer removes all available elements
 * by one {@code drainTo}, which its documentation calls more efficient than repeated polls. Pooled objects.
 *
 * @see <a href="https://docs.oracle.com/en/java/javase/25/docs/api/java.base/java/util/concurrent/BlockingQueue.html">
 *     BlockingQueue: drainTo, offer</a>
 */
final class SpinningQueueHandOff extends CopyingHandOff {
    private final ArrayBlockingQueue<CompletionEvent> queue;
    private final EventPool pool;
    private final List<CompletionEvent> drained = new ArrayList<>(TAKE_LIMIT);

    SpinningQueueHandOff(final Job job, final Work work) {
        super(job, work);
        queue = new ArrayBlockingQueue<>(job.ringSize());
        pool = new EventPool(job.ringSize(), TAKE_LIMIT);
    }

    @Override
    protected void put(final long records, final int count) {
        pool.startAt(records);
        for (int i = 0; i < count; i++) {
            final CompletionEvent event = pool.get();
            while (!queue.offer(event)) {
                producerIdle.idle();
            }
        }
    }

    @Override
    protected int take() {
        final int count = queue.drainTo(drained, TAKE_LIMIT);
        for (int i = 0; i < count; i++) {
            drained.get(i).handle(work);
        }
        drained.clear();
        return count;
    }
}
