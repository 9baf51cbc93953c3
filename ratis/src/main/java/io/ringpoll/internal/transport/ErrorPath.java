package io.ringpoll.internal.transport;

import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.verbs.WcStatus;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;

/** Ends the connection of a failed work request or queue. */
final class ErrorPath implements CompletionHandler {
    private final Node node;

    ErrorPath(final Node node) {
        this.node = node;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final long id = completion.workRequestId();
        final boolean isReceive = WorkRequestId.kind(id) == WorkRequestId.RECEIVE;
        if (completion.status() != WcStatus.WR_FLUSH_ERR) {
            node.counters().increment(Count.COMPLETION_ERRORS);
        }
        final Link link =
            isReceive ? node.linkOfQueuePair(completion.queuePairNumber()) : node.link(WorkRequestId.link(id));
        if (isReceive) {
            node.receives().post(id);
        }
        if (link != null) {
            link.fail(new IOException((isReceive ? "a receive from " : "a send to or a read from ") + link.name() +
                " has failed with " + WcStatus.name(completion.status())));
        }
    }

    /** Ends the connection of a completion whose handler has broken a rule. */
    void onViolation(final WorkCompletion completion, final AssertionError violation) {
        final long id = completion.workRequestId();
        final Link link = WorkRequestId.kind(id) == WorkRequestId.RECEIVE ?
            node.linkOfQueuePair(completion.queuePairNumber()) : node.link(WorkRequestId.link(id));
        if (link != null) {
            link.fail(new IOException("a handler of " + link.name() + " has waited", violation));
        }
    }

    /** Ends all connections: no completion follows. */
    void onDeath(final IOException reason) {
        node.endAll(reason);
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        node.onQueueFault(queueIndex, queueName + " has failed with code " + code);
    }
}
