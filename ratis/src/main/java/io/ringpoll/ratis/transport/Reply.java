package io.ringpoll.ratis.transport;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * The reply to come.
 *
 * @param link          that it will come from
 * @param correlationId of the request
 * @param future        as {@link Link#request} says
 * @param sentNs        when the request was sent
 * @param timeoutNs     how long the reply may take, or {@link #NO_TIMEOUT} if whoever waits sees to that
 */
public record Reply(Link link, long correlationId, CompletableFuture<MessageLite> future, long sentNs, long timeoutNs) {
    /** For as long as it takes. */
    static final long NO_TIMEOUT = Long.MAX_VALUE;

    boolean isOverdue(final long nowNs) {
        return timeoutNs != NO_TIMEOUT && nowNs - sentNs > timeoutNs;
    }

    /** Stops waiting: the reply is dropped when it comes. */
    public void forget() {
        link.forget(correlationId);
    }

    /**
     * Stops waiting since the time is up. A peer from which nothing at all has come since then is taken for dead and its
     * connection ends; one that is only slow with this request keeps it, and with it what others have asked.
     */
    public void giveUp() {
        forget();
        if (!link.isHeardSince(sentNs)) {
            link.fail(new IOException("nothing has come from " + link.name() + " for as long as a request may take"));
        }
    }
}
