package io.ringpoll.bench.run;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.Connection;
import io.ringpoll.verbs.CompletionQueue;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * The completion queues in the pipeline's round: they come and go with their connections, and one whose poll has failed can be
 * put back.
 *
 * <p>Any thread but the pipeline's own.
 */
final class PolledQueues {
    private final Pipeline pipeline;
    /** Guarded by this, so that no queue is put back while its connection goes. */
    private final Map<String, CompletionQueue> byName = new HashMap<>();

    PolledQueues(final Pipeline pipeline) {
        this.pipeline = pipeline;
    }

    /** Has the connection's queues polled. */
    synchronized void add(final Connection connection) {
        add(connection.completionQueue());
        connection.receiveCompletionQueue().ifPresent(this::add);
    }

    /** Has the connection's queues polled no more; they may be destroyed afterwards. */
    synchronized void remove(final Connection connection) {
        try {
            remove(connection.completionQueue());
            if (connection.receiveCompletionQueue().isPresent()) {
                remove(connection.receiveCompletionQueue().get());
            }
        } catch (final TimeoutException stuck) {
            throw new IllegalStateException(stuck.getMessage(), stuck);
        }
    }

    /**
     * Has a queue polled again that the pipeline has taken out of its round.
     *
     * @param name of the queue
     * @return false if it has gone meanwhile
     */
    synchronized boolean putBack(final String name) {
        final CompletionQueue queue = byName.get(name);
        if (queue == null) {
            return false;
        }
        try {
            pipeline.removeQueue(queue);
        } catch (final TimeoutException stuck) {
            throw new IllegalStateException(stuck.getMessage(), stuck);
        }
        pipeline.addQueue(queue);
        return true;
    }

    private void add(final CompletionQueue queue) {
        pipeline.addQueue(queue);
        byName.put(queue.name(), queue);
    }

    private void remove(final CompletionQueue queue) throws TimeoutException {
        byName.remove(queue.name());
        pipeline.removeQueue(queue);
    }
}
