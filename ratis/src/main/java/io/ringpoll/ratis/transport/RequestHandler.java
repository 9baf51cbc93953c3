package io.ringpoll.ratis.transport;

import java.util.concurrent.CompletableFuture;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/** Answers what peers ask. Called on the thread of a handler, so that it may not block. */
@FunctionalInterface
public interface RequestHandler {
    /**
     * Begins to answer a request.
     *
     * @param type    of the request
     * @param request the message, of the type's class
     * @return completes with the reply, of the type's class, or with the exception that the peer is to see
     */
    CompletableFuture<? extends MessageLite> handle(MessageType type, MessageLite request);

    /**
     * The one that answers for a new connection, and is asked in the order in which its peer has sent.
     *
     * @return this one, if it makes no difference between connections
     */
    default RequestHandler forConnection() {
        return this;
    }
}
