package io.ringpoll.bench.handoff;

import io.ringpoll.completion.IbvWc;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The bounded queue of the JDK as most programs use it: {@code put} and {@code take}, which block, and a new object for each
 * completion. {@link SpinningQueueHandOff} is the fast use of the same queue.
 *
 * @see <a href="https://docs.oracle.com/en/java/javase/25/docs/api/java.base/java/util/concurrent/BlockingQueue.html">
 *     BlockingQueue: the producer-consumer scenario of its example</a>
 */
final class BlockingQueueHandOff extends CopyingHandOff {
    private static final CompletionEvent END = new CompletionEvent();
    private static final long END_LIMIT_MS = TimeUnit.SECONDS.toMillis(10);

    private final ArrayBlockingQueue<CompletionEvent> queue;

    BlockingQueueHandOff(final Job job, final Work work) {
        super(job, work);
        queue = new ArrayBlockingQueue<>(job.ringSize());
    }

    @Override
    protected void put(final long records, final int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            queue.put(new CompletionEvent().copyFrom(records + i * (long) IbvWc.SIZE_BYTES));
        }
    }

    @Override
    protected int take() throws InterruptedException {
        final CompletionEvent event = queue.take();
        if (event == END) {
            return 0;
        }
        event.handle(work);
        return 1;
    }

    /** The consumer waits in {@code take}: the end is an element too. */
    @Override
    protected void endConsumer() throws InterruptedException {
        super.endConsumer();
        queue.offer(END, END_LIMIT_MS, TimeUnit.MILLISECONDS);
    }
}
