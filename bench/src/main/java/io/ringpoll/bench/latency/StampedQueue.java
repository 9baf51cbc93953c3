package io.ringpoll.bench.latency;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;

/** A completion queue of the binding whose polls note their time. Owned by the one thread that polls it. */
final class StampedQueue implements CompletionQueue, CountedQueue {
    private final CompletionQueue queue;
    private final CountedQueue counted;
    private final PollTimes times;

    /**
     * Creates the view.
     *
     * @param queue of the binding
     * @param times of the pipeline that polls it
     */
    StampedQueue(final CompletionQueue queue, final PollTimes times) {
        this.queue = queue;
        this.counted = CountedQueues.of(queue);
        this.times = times;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        return stamped(queue.poll(records, first, maxEntries));
    }

    @Override
    public int pollUncounted(final long wcAddress, final int maxEntries) {
        return stamped(counted.pollUncounted(wcAddress, maxEntries));
    }

    private int stamped(final int result) {
        if (result > 0) {
            times.polled(result, System.nanoTime());
        }
        return result;
    }

    @Override
    public boolean putTimestamps(final long recordsAddress, final long timestampsAddress) {
        return counted.putTimestamps(recordsAddress, timestampsAddress);
    }

    @Override
    public void onHandOver() {
        counted.onHandOver();
    }

    @Override
    public String name() {
        return queue.name();
    }

    @Override
    public Object underlying() {
        return queue.underlying();
    }

    @Override
    public boolean isClosed() {
        return queue.isClosed();
    }

    @Override
    public CompletionBudget budget() {
        return queue.budget();
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return queue.isSubjectOf(event);
    }
}
