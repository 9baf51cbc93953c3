package io.ringpoll.verify.run;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.Connection;
import io.ringpoll.verbs.AsyncEvent;
import io.ringpoll.verbs.AsyncEventType;
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
    private final Accounts accounts;
    /** Guarded by this, so that no queue is put back while its connection goes. */
    private final Map<String, CompletionQueue> byName = new HashMap<>();

    PolledQueues(final Pipeline pipeline, final Accounts accounts) {
        this.pipeline = pipeline;
        this.accounts = accounts;
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

    /** A completion queue that has overrun is not put back: it is dead, and what it held is lost. On the events' thread. */
    synchronized void onEvent(final AsyncEvent event) {
        if (event.type() == AsyncEventType.CQ_ERR) {
            byName.values().removeIf(queue -> {
                final boolean died = queue.isSubjectOf(event);
                if (died) {
                    accounts.complain(queue.name() + " has overrun: what it held is lost");
                }
                return died;
            });
        }
    }

    /**
     * Has a queue polled again that the pipeline has taken out of its round.
     *
     * @param name of the queue
     * @return false if it has gone or died meanwhile
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
