package io.ringpoll.internal.transport;

import java.util.concurrent.CompletableFuture;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/** Serves the requests of peers. Called on a handler's thread, or on one for long messages; must not block. */
@FunctionalInterface
public interface RequestHandler {
    /**
     * Starts to serve a request.
     *
     * @param type    of the request
     * @param request the message, of the type's class; a {@link StreamPacket} belongs to the handler, which releases it
     * @return completes with the reply, of the type's class, or with the exception for the peer
     */
    CompletableFuture<? extends MessageLite> handle(MessageType type, MessageLite request);

    /**
     * Starts to serve a request, and reports when it no longer waits: the peer may then send another one.
     *
     * @param type    of the request
     * @param request the message, of the type's class
     * @param taken   to run once, on any thread
     * @return as {@link #handle(MessageType, MessageLite)}
     */
    default CompletableFuture<? extends MessageLite> handle(
        final MessageType type, final MessageLite request, final Runnable taken) {
        final CompletableFuture<? extends MessageLite> reply = handle(type, request);
        taken.run();
        return reply;
    }

    /**
     * The handler for a new connection, called in the order in which the peer has sent its requests.
     *
     * @return this handler if it does not distinguish connections
     */
    default RequestHandler forConnection() {
        return this;
    }

    /** Called once when the connection has ended, on any thread; must not block. No request follows. */
    default void onEnd() {
        // A handler that does not distinguish connections has nothing to end.
    }
}
