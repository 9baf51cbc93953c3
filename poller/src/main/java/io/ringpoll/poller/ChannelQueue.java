package io.ringpoll.poller;

import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.verbs.AsyncEvent;
import io.ringpoll.verbs.CompletionBudget;
import io.ringpoll.verbs.CompletionChannel;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsCompletionQueue;
import io.ringpoll.verbs.WorkCompletions;

/**
 * A completion queue with its libibverbs completion channel.
 */
final class ChannelQueue implements NotifyingQueue, CountedQueue {
    private final CompletionQueue polled;
    private final CountedQueue counted;
    private final VerbsCompletionQueue armed;
    private final CompletionChannel channel;

    /**
     * Creates a view.
     *
     * @param polled  yields the completions
     * @param armed   the same queue in libibverbs, for {@code ibv_req_notify_cq}
     * @param channel completion channel of the queue
     */
    ChannelQueue(final CompletionQueue polled, final VerbsCompletionQueue armed, final CompletionChannel channel) {
        this.polled = polled;
        this.counted = CountedQueues.of(polled);
        this.armed = armed;
        this.channel = channel;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        return polled.poll(records, first, maxEntries);
    }

    @Override
    public int pollUncounted(final long wcAddress, final int maxEntries) {
        return counted.pollUncounted(wcAddress, maxEntries);
    }

    @Override
    public String name() {
        return polled.name();
    }

    @Override
    public Object underlying() {
        return polled.underlying();
    }

    @Override
    public CompletionBudget budget() {
        return polled.budget();
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return polled.isSubjectOf(event);
    }

    @Override
    public int eventFd() {
        return channel.fd();
    }

    @Override
    public void arm() {
        armed.requestNotification(false);
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
