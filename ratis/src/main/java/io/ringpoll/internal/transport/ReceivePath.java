package io.ringpoll.internal.transport;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;

/** Decodes received frames, reposts their buffers immediately, and dispatches the messages. */
final class ReceivePath implements CompletionHandler {
    private final Node node;

    ReceivePath(final Node node) {
        this.node = node;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final long id = completion.workRequestId();
        final Link link = node.linkOfQueuePair(completion.queuePairNumber());
        Incoming frame = null;
        Throwable failure = null;
        if (link != null) {
            try {
                frame = Incoming.decode(node.receives().frame(WorkRequestId.index(id), completion.lengthBytes()),
                    node.config().maxMessageBytes());
            } catch (final ProtocolException | RuntimeException | Error e) {
                failure = e;
            }
        }
        // Before the frame is processed: a returned credit represents a posted receive.
        node.receives().post(id);
        if (frame != null) {
            try {
                link.onFrame(frame);
            } catch (final IOException | RuntimeException | Error e) {
                failure = e;
            }
        }
        if (failure != null) {
            link.endAfter(failure);
        }
    }
}
