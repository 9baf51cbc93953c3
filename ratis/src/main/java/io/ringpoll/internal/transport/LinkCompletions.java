package io.ringpoll.internal.transport;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.io.IOException;

/** Handles the completions of the connections' queues, on the threads of a {@link NodePoller}. */
final class LinkCompletions {
    private LinkCompletions() {
    }

    static void handle(final Link link, final WorkCompletion completion) {
        final long id = completion.workRequestId();
        try {
            switch (completion.path()) {
                case RECEIVE -> link.onReceived(WorkRequestId.buffer(id), completion.lengthBytes());
                case SEND_WRITE -> {
                    if (WorkRequestId.isOperation(id)) {
                        link.rendezvous().onRead();
                    } else {
                        link.onSent(id);
                    }
                }
                default -> onFailed(link, id, completion.status());
            }
        } catch (final IOException | RuntimeException | Error failure) {
            link.endAfter(failure);
        }
    }

    private static void onFailed(final Link link, final long id, final int status) {
        final boolean isReceive = WorkRequestId.isReceive(id);
        final boolean isFlushed = status == WcStatus.WR_FLUSH_ERR;
        if (!isFlushed) {
            link.node().counters().increment(Count.COMPLETION_ERRORS);
        } else if (isReceive) {
            // The cause is an event of the connection, or another completion.
            return;
        }
        link.lose(new IOException((isReceive ? "a receive from " : "a send to or a read from ") + link.name() +
            " has failed with " + WcStatus.name(status)), !isFlushed);
    }
}
