package io.ringpoll.poller;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import java.util.Objects;

/**
 * A completion queue with completion events, which allow its poller to sleep.
 *
 * <p>Owned by the polling thread, as every {@link CompletionQueue}. The poller wraps librpma's queues itself. A
 * queue of libibverbs is polled once per millisecond, unless it is combined with its channel by {@link #of}: events of a channel
 * that is not passed are left to the thread that waits for them.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_cq_event.3.html">ibv_get_cq_event(3)</a>
 */
public interface NotifyingQueue extends CompletionQueue {
    /**
     * The file descriptor of the completion channel; queues may share a channel.
     *
     * @return a descriptor that is readable while an event is pending, always the same; a queue with a negative one is refused
     */
    int eventFd();

    /**
     * Requests one event for the next completion. Completions that are already in the queue raise none: poll the queue once more
     * after this call.
     *
     * @throws RuntimeException if the queue has failed; it leaves the round, also after an error
     */
    void arm();

    /**
     * Reads all pending events of the channel, including those of other queues that share it, without blocking. Acknowledgements
     * may be deferred and combined.
     *
     * @return number of events
     * @throws RuntimeException if the channel has failed; the queue leaves the round, also after an error
     */
    int takeEvents();

    /**
     * Combines a libibverbs queue with its completion channel.
     *
     * @param queue   created with the channel
     * @param channel used only by queues of the same poller
     * @return a queue to add to a poller
     */
    static NotifyingQueue of(final VerbsCompletionQueue queue, final CompletionChannel channel) {
        Objects.requireNonNull(queue, "the queue is null");
        Objects.requireNonNull(channel, "the channel is null");
        return new ChannelQueue(queue, channel);
    }
}
