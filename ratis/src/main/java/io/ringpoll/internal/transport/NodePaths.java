package io.ringpoll.internal.transport;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;

/**
 * A node's handlers, on the threads of its {@link NodePoller}.
 *
 * @param receive   of successful receives
 * @param sendWrite of successful sends and reads
 * @param error     of failed completions and queues
 */
record NodePaths(ReceivePath receive, SendWritePath sendWrite, ErrorPath error) implements CompletionHandler {
    NodePaths(final Node node) {
        this(new ReceivePath(node), new SendWritePath(node), new ErrorPath(node));
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final CompletionPath path = completion.path();
        if (path == CompletionPath.RECEIVE) {
            receive.onCompletion(completion, sequence, endOfBatch);
        } else if (path == CompletionPath.SEND_WRITE) {
            sendWrite.onCompletion(completion, sequence, endOfBatch);
        } else {
            error.onCompletion(completion, sequence, endOfBatch);
        }
    }

    /** Ends the connection of a completion whose handler has broken a rule. */
    void onViolation(final WorkCompletion completion, final AssertionError violation) {
        error.onViolation(completion, violation);
    }

    /** Ends all connections of the node: no completion follows. */
    void onDeath(final IOException reason) {
        error.onDeath(reason);
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        error.onQueueFault(queueIndex, queueName, code);
    }
}
