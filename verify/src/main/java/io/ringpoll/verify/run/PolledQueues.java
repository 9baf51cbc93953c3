package io.ringpoll.verify.run;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.pipeline.Pipeline;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * The completion queues in the duty cycle: added and removed with their connections, and added again after a failed poll.
 *
 * <p>Any thread except those of the pipeline.
 */
final class PolledQueues {
    private final Pipeline pipeline;
    private final Accounts accounts;
    /** Guarded by this, so that no queue is added again while its connection closes. */
    private final Map<String, CompletionQueue> byName = new HashMap<>();

    PolledQueues(final Pipeline pipeline, final Accounts accounts) {
        this.pipeline = pipeline;
        this.accounts = accounts;
    }

    /** Adds the queues of a connection to the poller. */
    synchronized void add(final RcConnection connection) {
        add(connection.completionQueue());
        connection.receiveCompletionQueue().ifPresent(this::add);
    }

    /** Removes the queues of a connection from the poller; they may be destroyed afterwards. */
    synchronized void remove(final RcConnection connection) {
        try {
            remove(connection.completionQueue());
            if (connection.receiveCompletionQueue().isPresent()) {
                remove(connection.receiveCompletionQueue().get());
            }
        } catch (final TimeoutException stuck) {
            throw new IllegalStateException(stuck.getMessage(), stuck);
        }
    }

    /** An overrun completion queue is not added again: its completions are lost. Event thread. */
    synchronized void onEvent(final AsyncEvent event) {
        if (event.type() == AsyncEventType.CQ_ERR) {
            byName.values().removeIf(queue -> {
                final boolean died = queue.isSubjectOf(event);
                if (died) {
                    accounts.complain(queue.name() + " has overrun: its completions are lost");
                }
                return died;
            });
        }
    }

    /**
     * Adds a queue again that the pipeline has removed.
     *
     * @param name name of the queue
     * @return false if it was closed or has failed for good
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
