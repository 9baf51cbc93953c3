package io.ringpoll.connections;

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
    FAILED
}
