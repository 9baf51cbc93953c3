package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.QueueAttachments;
import org.agrona.ErrorHandler;

/**
 * The services of a pipeline for its handlers' threads.
 */
interface HandlerContext {
    /** The error log; any thread may write. */
    ErrorHandler errorLog();

    /** The name of a completion queue, for the report of a fault; any thread. */
    String queueName(int queueIndex);

    /** The attachments of the completion queues of slots that have not been passed; any thread, when the poller is there. */
    QueueAttachments attachments();

    /** Whether the completions of a queue have timestamps; any thread, for a slot that has not been passed. */
    boolean hasTimestamps(int queueIndex);

    /** Called on a handler's thread when the handler has ended on a failure. */
    void onHandlerHalted(String roleName, Throwable failure);
}
