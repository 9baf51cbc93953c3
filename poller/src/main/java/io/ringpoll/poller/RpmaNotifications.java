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
 * channels of libibverbs below it do both better. Belongs to whoever adds and removes queues, one thread at a time.
 */
final class RpmaNotifications {
    private final Map<Integer, SharedChannel> byFd = new HashMap<>();
    private final Map<CompletionQueue, SharedChannel> byQueue = new IdentityHashMap<>();

    /** A channel with the queues of it that are polled. */
    private static final class SharedChannel {
        private final List<VerbsCompletionQueue> views = new ArrayList<>();
        private CompletionChannel channel;
        private int users;
    }

    /** What an event-driven poller polls in the place of a queue; the queue itself if it is none of librpma's. */
    CompletionQueue open(final CompletionQueue queue) {
        if (!(queue instanceof final RpmaCompletionQueue rpma)) {
            return queue;
        }
        final SharedChannel shared = byFd.computeIfAbsent(rpma.fd(), fd -> new SharedChannel());
        final VerbsCompletionQueue view = rpma.openVerbs();
        shared.views.add(view);
        if (shared.channel == null) {
            shared.channel = CompletionChannel.borrow(view);
        } else {
            shared.channel.include(view);
        }
        shared.users++;
        byQueue.put(queue, shared);
        return new ChannelQueue(rpma, view, shared.channel);
    }

    /** Closes what was opened for a queue, once no other queue of its channel is polled; events are acknowledged then. */
    void close(final CompletionQueue queue) {
        final SharedChannel shared = byQueue.remove(queue);
        if (shared != null && --shared.users == 0) {
            byFd.values().remove(shared);
            shared.channel.close();
            shared.views.forEach(VerbsCompletionQueue::close);
        }
    }
}
