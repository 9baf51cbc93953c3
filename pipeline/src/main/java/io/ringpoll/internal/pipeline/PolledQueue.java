package io.ringpoll.internal.pipeline;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.poller.NotifyingQueue;
import java.util.Optional;

/**
 * The completion queues of a connection as pipelines poll them. A poller uses the channel of a verbs queue only if it is passed
 * together with the queue: it could be another thread's. Stateless.
 */
public final class PolledQueue {
    private PolledQueue() {
    }

    /**
     * Combines the main queue of verbs with its channel, so that its poller can sleep.
     *
     * @param connection of either binding
     * @return to be added to one poller; the queue itself over librpma
     */
    public static CompletionQueue of(final RcConnection connection) {
        return combined(connection.completionQueue(), connection.completionChannel());
    }

    /**
     * Combines a queue that connections share with its channel.
     *
     * @param shared by the connections of one poller
     * @return to be added to that poller
     */
    public static CompletionQueue of(final RcQueue shared) {
        return NotifyingQueue.of(shared.queue(), shared.channel());
    }

    /**
     * Combines the receive queue of verbs with its channel. If it shares that of the main queue, it is polled without events,
     * which only one poller may take: its poller sleeps for a millisecond at most.
     *
     * @param connection of either binding
     * @return to be added to one poller; the queue itself over librpma; empty if there is none
     */
    public static Optional<CompletionQueue> ofReceives(final RcConnection connection) {
        return connection.receiveCompletionQueue().map(queue -> combined(queue, connection.receiveCompletionChannel()));
    }

    private static CompletionQueue combined(final CompletionQueue queue, final Optional<CompletionChannel> channel) {
        return channel.<CompletionQueue>map(own -> NotifyingQueue.of((VerbsCompletionQueue) queue, own)).orElse(queue);
    }
}
