package io.ringpoll.internal.transport;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;

/** Releases send buffers, and processes messages that have been read from a peer's memory. */
final class SendWritePath implements CompletionHandler {
    private final Node node;

    SendWritePath(final Node node) {
        this.node = node;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final long id = completion.workRequestId();
        final Link link = node.link(WorkRequestId.link(id));
        if (link == null) {
            return;
        }
        if (WorkRequestId.kind(id) == WorkRequestId.SEND) {
            link.onSent(WorkRequestId.index(id));
            return;
        }
        try {
            link.rendezvous().onRead(WorkRequestId.index(id));
        } catch (final IOException | RuntimeException | Error e) {
            link.endAfter(e);
        }
    }
}
