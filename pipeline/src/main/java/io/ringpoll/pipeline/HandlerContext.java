package io.ringpoll.pipeline;

import org.agrona.ErrorHandler;

/**
 * What a handler's thread may ask of the pipeline around it.
 */
interface HandlerContext {
    /** Where exceptions are recorded; any thread may write. */
    ErrorHandler errorLog();

    /** The name of a completion queue, for a fault's report; any thread. */
    String queueName(int queueIndex);

    /** Hears that a handler has ended before it was asked to; called on the handler's thread. */
    void onHandlerDied(String roleName, Throwable failure);
}
