package io.ringpoll.internal.rc;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.QueuePairAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/** The verbs objects of a connection: its id, its completion queues with channels, and its queue pair. */
final class VerbsQueues implements AutoCloseable {
    /** The last one is closed first. */
    private final Deque<NativeResource> opened = new ArrayDeque<>();
    private final ConnectionId id;
    /** Null if the next two are its own. */
    private final RcQueue shared;
    private final VerbsCompletionQueue main;
    /** Of the main queue. */
    private final CompletionChannel channel;
    /** Null without a receive queue, or if it shares the other one. */
    private final CompletionChannel receiveChannel;
    /** Null without a receive queue. */
    private final VerbsCompletionQueue receives;
    private final QueuePair queuePair;
    private final AtomicWrites atomicWrites;

    /** Takes over the id, which is closed if that fails. */
    VerbsQueues(final VerbsPeer peer, final ConnectionId id, final RcConfig config) {
        this.id = opened(id);
        shared = config.queue();
        atomicWrites = new AtomicWrites(peer.domain());
        boolean complete = false;
        try {
            final VerbsContext context = id.context();
            channel = shared != null ? shared.channel() : opened(CompletionChannel.create(context));
            main = shared != null ? shared.queue() :
                opened(queue(context, "main CQ of " + id.name(), config.cqSize(), channel, config.timestamps()));
            receiveChannel = config.rcqSize() == 0 || config.sharedChannel() ? null : opened(CompletionChannel.create(context));
            receives = config.rcqSize() == 0 ? null : opened(queue(context, "receive CQ of " + id.name(), config.rcqSize(),
                receiveChannel == null ? channel : receiveChannel, config.timestamps()));
            final QueuePairAttributes attributes =
                receives == null ? QueuePairAttributes.create(main) : QueuePairAttributes.create(main, receives);
            queuePair = opened(id.createQueuePair(
                peer.domain(), attributes.maxSendRequests(config.sqSize()).maxReceiveRequests(config.rqSize())
                    .maxInlineBytes(AtomicWrites.VALUE_BYTES).completionBudget(config.counted())));
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    private static VerbsCompletionQueue queue(final VerbsContext context, final String name, final int entries,
        final CompletionChannel channel, final boolean timestamps) {
        return timestamps ? VerbsCompletionQueue.createWithTimestamps(context, name, entries, channel) :
            VerbsCompletionQueue.create(context, name, entries, channel);
    }

    ConnectionId id() {
        return id;
    }

    Optional<RcQueue> shared() {
        return Optional.ofNullable(shared);
    }

    VerbsCompletionQueue main() {
        return main;
    }

    CompletionChannel channel() {
        return channel;
    }

    Optional<CompletionChannel> receiveChannel() {
        return Optional.ofNullable(receiveChannel);
    }

    Optional<VerbsCompletionQueue> receives() {
        return Optional.ofNullable(receives);
    }

    QueuePair queuePair() {
        return queuePair;
    }

    AtomicWrites atomicWrites() {
        return atomicWrites;
    }

    /**
     * Closes all objects. One that stays open, with those that it needs, is closed by the next call. One whose call into C fails
     * is lost; the others are closed nevertheless.
     *
     * @throws IllegalStateException if an object is still used
     * @throws RdmaException         the first failure
     */
    @Override
    public void close() {
        synchronized (opened) {
            RdmaException first = null;
            while (!opened.isEmpty()) {
                try {
                    opened.peek().close();
                } catch (final RdmaException failed) {
                    first = first == null ? failed : first;
                }
                opened.pop();
            }
            try {
                atomicWrites.close();
            } catch (final RdmaException failed) {
                first = first == null ? failed : first;
            }
            if (first != null) {
                throw first;
            }
        }
    }

    private <T extends NativeResource> T opened(final T resource) {
        synchronized (opened) {
            opened.push(resource);
        }
        return resource;
    }
}
