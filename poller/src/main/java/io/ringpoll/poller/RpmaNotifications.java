package io.ringpoll.poller;

import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.verbs.CompletionChannel;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsCompletionQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The completion channels below librpma's queues, opened when a queue is added to an event-driven poller and closed when it has
 * been removed.
 *
 * <p>librpma's own wait acknowledges each event by itself and has a call of its own for channels that two queues share; the
 * channels of libibverbs below it do both better. Any thread.
 */
final class RpmaNotifications {
    /** Guarded by this, as what follows. */
    private final Map<Integer, SharedChannel> byFd = new HashMap<>();
    private final Map<CompletionQueue, SharedChannel> byView = new IdentityHashMap<>();

    /** A channel with the queues of it that are polled. */
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

        /** Closes the channel first, which acknowledges what is left when its queues are closed. */
        void close() {
            try {
                channel.close();
            } finally {
                queues.forEach(VerbsCompletionQueue::close);
            }
        }
    }

    /**
     * Opens what an event-driven poller polls in the place of a queue.
     *
     * @return a view of the queue, to be closed by {@link #close}; the queue itself if it is none of librpma's
     */
    synchronized CompletionQueue open(final CompletionQueue queue) {
        if (!(queue instanceof final RpmaCompletionQueue rpma)) {
            return queue;
        }
        final SharedChannel known = byFd.get(rpma.fd());
        final SharedChannel shared = known == null ? new SharedChannel(rpma.fd()) : known;
        final VerbsCompletionQueue verbs = rpma.openVerbs();
        try {
            shared.include(verbs);
        } catch (final RuntimeException failed) {
            verbs.close();
            throw failed;
        }
        byFd.put(shared.fd, shared);
        final ChannelQueue view = new ChannelQueue(rpma, verbs, shared.channel);
        byView.put(view, shared);
        return view;
    }

    /**
     * Closes what was opened for a queue, once no other queue of its channel is polled; events are acknowledged then.
     *
     * @param view as {@link #open} returned it; nothing happens if it has been closed before
     */
    synchronized void close(final CompletionQueue view) {
        final SharedChannel shared = byView.remove(view);
        if (shared != null && --shared.users == 0) {
            byFd.remove(shared.fd, shared);
            shared.close();
        }
    }
}
