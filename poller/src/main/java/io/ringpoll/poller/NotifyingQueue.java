package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionChannel;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsCompletionQueue;

/**
 * A completion queue that can say when it is no longer empty, so that its poller may sleep.
 *
 * <p>Owned by the polling thread, as every {@link CompletionQueue}. librpma's queues need not be wrapped: the poller makes this
 * of them by itself.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_cq_event.3.html">ibv_get_cq_event(3)</a>
 */
public interface NotifyingQueue extends CompletionQueue {
    /**
     * The descriptor of the queue's completion channel; queues may share one.
     *
     * @return readable when an event has come, the same at each call
     */
    int eventFd();

    /**
     * Asks for one event at the next completion. What came before gives none, so the queue is polled once more afterwards.
     *
     * @throws RuntimeException if the queue has failed; it is polled no more then
     */
    void arm();

    /**
     * Takes all events that have come on the channel, for whatever queue of it, without waiting, and acknowledges them, if need
     * be later and in bulk.
     *
     * @return how many
     * @throws RuntimeException if the channel has failed; the queue is polled no more then
     */
    int takeEvents();

    /**
     * Makes one of a queue of libibverbs and its channel.
     *
     * @param queue   made with the channel
     * @param channel used by nobody else but further queues of the same poller
     * @return to be added to a poller
     */
    static NotifyingQueue of(final VerbsCompletionQueue queue, final CompletionChannel channel) {
        return new ChannelQueue(queue, queue, channel);
    }
}
