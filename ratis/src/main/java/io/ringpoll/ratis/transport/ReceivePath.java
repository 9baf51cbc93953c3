package io.ringpoll.ratis.transport;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;

/** Decodes what has come, posts the buffer again at once, and passes the message on. */
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
        IOException failure = null;
        if (link != null) {
            try {
                frame = Incoming.decode(node.receives().frame(WorkRequestId.index(id), completion.lengthBytes()),
                    node.config().maxMessageBytes());
            } catch (final ProtocolException e) {
                failure = e;
            }
        }
        // Before the frame is taken: a credit that is given back stands for a receive that is posted.
        node.receives().post(id);
        if (frame != null) {
            try {
                link.onFrame(frame);
            } catch (final IOException e) {
                failure = e;
            } catch (final RuntimeException e) {
                failure = new IOException("cannot take a frame of " + link.name(), e);
            }
        }
        if (failure != null) {
            link.fail(failure);
        }
    }
}
