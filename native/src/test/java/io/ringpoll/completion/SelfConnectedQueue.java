package io.ringpoll.completion;

import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.SelfConnectedQueuePair;
import io.ringpoll.testing.TestDevice;

/** A completion queue of verbs, with timestamps or without, and a queue pair that is connected to itself. */
public final class SelfConnectedQueue implements AutoCloseable {
    private final Peer peer = Peer.ofLocal(TestDevice.address());
    private final CompletionChannel channel = CompletionChannel.create(peer.context());
    private final VerbsCompletionQueue queue;
    private final SelfConnectedQueuePair queuePair;

    /** Creates both; the queue has the given name. */
    public SelfConnectedQueue(final String name, final boolean timestamps) {
        queue = timestamps ? VerbsCompletionQueue.createWithTimestamps(peer.context(), name, 128, channel) :
            VerbsCompletionQueue.create(peer.context(), name, 128, channel);
        queuePair = new SelfConnectedQueuePair(peer.context().address(), queue.identity());
    }

    /** The device. */
    public VerbsContext context() {
        return peer.context();
    }

    /** The queue's channel. */
    public CompletionChannel channel() {
        return channel;
    }

    /** The queue. */
    public VerbsCompletionQueue queue() {
        return queue;
    }

    /** Sends an empty message: results in two completions. */
    public void send(final long workRequestId) {
        queuePair.send(workRequestId);
    }

    @Override
    public void close() {
        queuePair.close();
        queue.close();
        channel.close();
        peer.close();
    }
}
