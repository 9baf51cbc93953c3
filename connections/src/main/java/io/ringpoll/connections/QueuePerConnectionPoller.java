package io.ringpoll.connections;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.internal.rc.RcRequest;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Polls connections with a queue each, whose attachment is the connection. Threads: {@link ConnectionPoller}. */
final class QueuePerConnectionPoller extends ConnectionPoller {
    /** The poller with index 0 publishes the counts of the set. */
    QueuePerConnectionPoller(final ConnectionSet set, final int index) {
        super(set, index);
    }

    @Override
    void openQueue(final Supplier<SharedQueue> open) {
        // Each connection has its own.
    }

    @Override
    void watchQueue(final VerbsContext device) {
        // The pipeline polls each connection's queue, which reports its own errors.
    }

    @Override
    void closeQueue() {
        // The connections close theirs.
    }

    @Override
    boolean shares(final RcQueue queue) {
        return false;
    }

    @Override
    boolean hasFailed() {
        return false;
    }

    @Override
    ExpectedConnection expect(final RcRequest request) {
        return null;
    }

    @Override
    void forget(final ExpectedConnection expected) {
        // None was expected.
    }

    @Override
    RcConfig config(final RcConfig ofSet) {
        return ofSet;
    }

    @Override
    public boolean owns(final CompletionQueue queue, final Object attachment) {
        return attachment instanceof final MessageConnection connection && connection.poller() == this &&
            connection.queue() == queue;
    }

    @Override
    MessageConnection find(final WorkCompletion completion) {
        return (MessageConnection) completion.attachment();
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        // Not kept in a field until the end of the batch: storing a reference executes the garbage collector's barrier, with a
        // fence where this object and the connection are in different regions of the heap.
        final MessageConnection connection = find(completion);
        try {
            connection.onCompletion(completion);
        } finally {
            if (endOfBatch) {
                connection.onBatchEnd();
            }
        }
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code, final Object attachment) {
        if (attachment instanceof final MessageConnection connection) {
            connection.onQueueFault(code);
        }
    }

    @Override
    void add(final MessageConnection connection) {
        pipeline().addQueue(connection.queue(), connection);
    }

    @Override
    void pollLast(final MessageConnection connection) {
        final CompletionQueue queue = connection.queue();
        final WorkCompletions polled = WorkCompletions.allocate(1);
        final WorkCompletion completion = new WorkCompletion();
        while (queue.poll(polled, 0, 1) > 0) {
            connection.onCompletion(polled.show(0, completion));
        }
    }

    @Override
    void remove(final MessageConnection connection) {
        try {
            pipeline().removeQueue(connection.queue());
        } catch (final TimeoutException impossible) {
            throw new IllegalStateException("the polling thread has waited for itself", impossible);
        }
    }

    @Override
    void whenDrained(final Runnable task) {
        task.run();
    }
}
