package io.ringpoll.internal.connections;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.poller.NotifyingQueue;

/**
 * The main completion queue of a connection as pipelines poll it. A poller uses the channel of a verbs queue only if it is passed
 * together with the queue: it could be another thread's. Stateless.
 */
public final class PolledQueue {
    private PolledQueue() {
    }

    /**
     * Combines a queue of verbs with its channel, so that its poller can sleep.
     *
     * @param connection of either binding
     * @return to be added to one poller; the queue itself over librpma
     */
    public static CompletionQueue of(final RcConnection connection) {
        final CompletionQueue queue = connection.completionQueue();
        return connection.completionChannel()
            .<CompletionQueue>map(channel -> NotifyingQueue.of((VerbsCompletionQueue) queue, channel)).orElse(queue);
    }
}
