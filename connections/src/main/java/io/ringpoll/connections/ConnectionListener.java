package io.ringpoll.connections;

import org.agrona.DirectBuffer;

/**
 * A user's callbacks for the connections of a set.
 *
 * <p>The callbacks of a connection begin with {@link #onConnected} and end with {@link #onDisconnected}, each called exactly
 * once. They do not overlap. An exception is passed to the set's error handler, and the connection continues.
 *
 * <p>The polling thread of the connection calls them; with {@link ConnectionSetBuilder#asAgent()} that is the thread which
 * invokes the agent. After the end of this thread, the thread that closes the pipeline or the set calls the rest. A set with
 * several polling threads calls its listener on each of them. A polling thread polls nothing while a callback runs, so a callback
 * must not block.
 */
@FunctionalInterface
public interface ConnectionListener {
    /**
     * Handles a message. Its receive is posted again when this method has returned true, or later if the message is retained.
     *
     * @param connection from which the message was received
     * @param buffer     contains the message; valid until this method returns, or until the release of a retained message
     * @param offset     of the message in bytes
     * @param length     of the message in bytes, as sent; may be 0
     * @return true if the message has been handled; false to be called again with this message, before all later ones, when
     *     {@link MessageConnection#resume()} is called, or a message can be sent again after a send or claim was refused
     * @throws Exception passed to the error handler of the set; the message counts as handled. If it was retained, it remains so
     *     until its release: the caller of {@link MessageConnection#retain()} has the only handle
     * @see MessageConnection#retain()
     */
    boolean onMessage(MessageConnection connection, DirectBuffer buffer, int offset, int length) throws Exception;

    /**
     * Called when a connection is established, before its first message.
     *
     * @param connection accepted or requested by this set; messages can be sent
     * @throws Exception passed to the error handler of the set
     */
    default void onConnected(final MessageConnection connection) throws Exception {
    }

    /**
     * Called when a message can be sent again, after a send or claim was refused for lack of credit.
     *
     * @param connection that has credit
     * @throws Exception passed to the error handler of the set
     */
    default void onDrained(final MessageConnection connection) throws Exception {
    }

    /**
     * Called when a one-sided operation has ended, once for each that {@link MessageConnection#tryWrite} or {@link
     * MessageConnection#tryRead} has accepted, in their order; another one may be posted now. The operations of an ending
     * connection end before {@link #onDisconnected}, successfully or with an error.
     *
     * @param connection of the operation
     * @param tag        of the operation, as the user has passed it
     * @param status     {@link io.ringpoll.completion.WcStatus#SUCCESS}, or the status with which the connection ends; {@link
     *                   io.ringpoll.completion.WcStatus#WR_FLUSH_ERR} if it is unknown whether the operation was executed
     * @throws Exception passed to the error handler of the set
     */
    default void onOperationCompleted(final MessageConnection connection, final long tag, final int status) throws Exception {
    }

    /**
     * Called when the connections of a polling thread have had no completion for {@link ConnectionSetBuilder#idleTimeoutNs}, and
     * again after each such time until one has one; not while the pipeline is paused. For one connection there are {@linkplain
     * MessageConnection#newTimer timers}.
     *
     * @param pollerIndex of the calling polling thread: {@link MessageConnection#pollerIndex()} of its connections
     * @throws Exception passed to the error handler of the set
     */
    default void onIdle(final int pollerIndex) throws Exception {
    }

    /**
     * Called after the last message, when the queue pair is gone.
     *
     * @param connection ended; retained messages remain valid until they are released
     * @param reason     of the end; {@link MessageConnection#disconnectDetail()} has the details
     * @throws Exception passed to the error handler of the set
     */
    default void onDisconnected(final MessageConnection connection, final DisconnectReason reason) throws Exception {
    }
}
