package io.ringpoll.poller;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;

/** A completion queue of libibverbs with its completion channel. */
final class ChannelQueue implements NotifyingQueue, CountedQueue {
    private final VerbsCompletionQueue queue;
    private final CountedQueue counted;
    private final CompletionChannel channel;

    ChannelQueue(final VerbsCompletionQueue queue, final CompletionChannel channel) {
        this.queue = queue;
        this.counted = CountedQueues.of(queue);
        this.channel = channel;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        return queue.poll(records, first, maxEntries);
    }

    @Override
    public int pollUncounted(final long wcAddress, final int maxEntries) {
        return counted.pollUncounted(wcAddress, maxEntries);
    }

    @Override
    public void onHandOver() {
        counted.onHandOver();
    }

    @Override
    public boolean putTimestamps(final long recordsAddress, final long timestampsAddress) {
        return counted.putTimestamps(recordsAddress, timestampsAddress);
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

    @Override
    public int eventFd() {
        return channel.fd();
    }

    @Override
    public void arm() {
        queue.requestNotification(false);
    }

    @Override
    public int takeEvents() {
        int taken = 0;
        while (channel.await(0) != null) {
            taken++;
        }
        return taken;
    }
}
