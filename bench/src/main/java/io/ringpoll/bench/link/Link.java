package io.ringpoll.bench.link;

import io.ringpoll.completion.CompletionQueue;
import java.util.List;

/** A connection for measurements from its client end. Closed by the thread that measures. */
public interface Link extends AutoCloseable {
    /**
     * The connecting end.
     *
     * @return always in this process
     */
    LinkEnd client();

    /**
     * The ends in this process.
     *
     * @return the client's, then the server's unless that is in another process
     */
    List<LinkEnd> ends();

    /**
     * The completion queues of the ends in this process.
     *
     * @return in the order of {@link #ends()}
     */
    default List<CompletionQueue> queues() {
        return ends().stream().map(end -> end.connection().completionQueue()).toList();
    }

    /**
     * Checks that a measurement can continue.
     *
     * @param failed whether an operation has failed
     * @throws IllegalStateException if the other end is in another process and has gone, or an operation to it has failed
     */
    void check(boolean failed);

    @Override
    void close();
}
