package io.ringpoll.internal.rc;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;

/** A completion queue for the sends and receives of several connections, with its completion channel; over verbs only. */
public final class RcQueue extends RcResource {
    private final CompletionChannel channel;
    private final VerbsCompletionQueue queue;

    RcQueue(final VerbsContext context, final String name, final int entries) {
        channel = CompletionChannel.create(context);
        VerbsCompletionQueue created = null;
        try {
            created = VerbsCompletionQueue.create(context, name, entries, channel);
        } finally {
            if (created == null) {
                channel.close();
            }
        }
        queue = created;
    }

    /**
     * The queue.
     *
     * @return open until this is closed
     */
    public VerbsCompletionQueue queue() {
        return queue;
    }

    /**
     * The channel of its events.
     *
     * @return open until this is closed
     */
    public CompletionChannel channel() {
        return channel;
    }

    /** Closes the queue after its connections, and the channel. One that is still used stays open, until the next call. */
    @Override
    public void close() {
        try {
            queue.close();
        } catch (final RdmaException lost) {
            // Nothing uses the channel any more.
            channel.close();
            throw lost;
        }
        channel.close();
    }
}
