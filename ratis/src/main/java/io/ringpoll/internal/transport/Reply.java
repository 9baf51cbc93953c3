package io.ringpoll.internal.transport;

import java.util.concurrent.CompletableFuture;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A pending reply: a request that its peer has not answered yet. Immutable.
 *
 * @param link          connection of the request
 * @param type          of the request, and of its reply
 * @param correlationId of the request
 * @param future        as returned by {@link Link#request}
 * @param sentNs        time at which the request was sent
 * @param timeoutNs     time-out of the reply, or {@link #NO_TIMEOUT} if the caller handles it
 */
public record Reply(Link link, MessageType type, long correlationId, CompletableFuture<MessageLite> future, long sentNs,
    long timeoutNs) {
    /** No time-out. */
    static final long NO_TIMEOUT = Long.MAX_VALUE;

    boolean isOverdue(final long nowNs) {
        return timeoutNs != NO_TIMEOUT && nowNs - sentNs > timeoutNs;
    }

    /** Cancels the wait: the reply is dropped when it is received. */
    public void cancel() {
        link.cancel(correlationId);
    }

}
