package io.ringpoll.connections;

import io.ringpoll.completion.WcStatus;

/**
 * The reason for the end of a connection.
 */
public enum DisconnectReason {
    /** This side has closed the connection or the set. */
    CLOSED,
    /** The peer has closed the connection; all messages that it sent before have been received. */
    PEER_CLOSED,
    /** The peer has vanished: its process has ended, or the network has failed. */
    PEER_LOST,
    /** The peer has violated the protocol; it may be hostile, or of another version. */
    PROTOCOL_VIOLATION,
    /** A work request, the completion queue or the pipeline of the polling thread has failed on this side. */
    FAILED;

    /** Whether messages that were received before an end for this reason are still delivered. */
    boolean deliversReceived() {
        return this != CLOSED && this != PROTOCOL_VIOLATION;
    }

    /** The reason that the status of a failed work request shows. */
    static DisconnectReason of(final int status, final boolean isReceive) {
        return switch (status) {
            case WcStatus.WR_FLUSH_ERR, WcStatus.RETRY_EXC_ERR -> PEER_LOST;
            // A message longer than the receive: the first by the verbs manual, the second on Soft-RoCE.
            case WcStatus.LOC_LEN_ERR, WcStatus.LOC_QP_OP_ERR -> isReceive ? PROTOCOL_VIOLATION : FAILED;
            default -> FAILED;
        };
    }
}
