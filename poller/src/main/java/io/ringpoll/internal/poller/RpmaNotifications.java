package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.rpma.RpmaCompletionQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Opens the libibverbs completion channels of librpma's queues for an event-driven poller, and closes them after the queues'
 * removal.
 *
 * <p>librpma's wait acknowledges events one at a time and needs a separate call for channels that two queues share; libibverbs
 * acknowledges in bulk and treats all channels alike. Thread-safe.
 */
final class RpmaNotifications {
    private final String pollerName;
    /** Guarded by this, as is the following field. */
    private final Map<Integer, SharedChannel> byFd = new HashMap<>();
    private final Map<CompletionQueue, SharedChannel> byView = new IdentityHashMap<>();

    RpmaNotifications(final String pollerName) {
        this.pollerName = pollerName;
    }

    /** A completion channel and its polled queues. */
    private static final class SharedChannel {
        private final int fd;
        private final List<VerbsCompletionQueue> queues = new ArrayList<>();
        private CompletionChannel channel;
        private int users;

        SharedChannel(final int fd) {
            this.fd = fd;
        }

        void include(final VerbsCompletionQueue queue) {
            if (channel == null) {
                channel = CompletionChannel.borrow(queue);
            } else {
                channel.include(queue);
            }
            queues.add(queue);
            users++;
        }

        /** Closes the channel, which acknowledges its remaining events when its queues are closed. */
        void close() {
            try {
                channel.close();
            } finally {
                queues.forEach(VerbsCompletionQueue::close);
            }
        }
    }

    /**
     * Opens the view of a queue that an event-driven poller polls.
     *
     * @return a view, to be closed by {@link #close}; the queue itself if it is not a librpma queue: a channel that the
     *     user has created may be waited on by another thread, so the queue must be added with it, by
     *     {@link NotifyingQueue#of}
     */
    synchronized CompletionQueue open(final CompletionQueue queue) {
        if (!(queue instanceof final RpmaCompletionQueue rpma)) {
            return queue;
        }
        final SharedChannel known = byFd.get(rpma.fd());
        final SharedChannel shared = known == null ? new SharedChannel(rpma.fd()) : known;
        // A close of the connection is refused with this name, and the user knows nothing of the view.
        final VerbsCompletionQueue verbs =
            rpma.openVerbs(rpma.name() + " (polled by " + pollerName + ": remove it there first)");
        try {
            shared.include(verbs);
        } catch (final RuntimeException failed) {
            verbs.close();
            throw failed;
        }
        byFd.put(shared.fd, shared);
        final CompletionQueue view = new RpmaNotifyingQueue(rpma, NotifyingQueue.of(verbs, shared.channel));
        byView.put(view, shared);
        return view;
    }

    /**
     * Closes the view of a queue. The last view of a channel closes the channel, which acknowledges its events.
     *
     * @param view returned by {@link #open}; idempotent
     */
    synchronized void close(final CompletionQueue view) {
        final SharedChannel shared = byView.remove(view);
        if (shared != null && --shared.users == 0) {
            byFd.remove(shared.fd, shared);
            shared.close();
        }
    }
}
