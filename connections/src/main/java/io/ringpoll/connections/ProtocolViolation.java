package io.ringpoll.connections;

/**
 * A value from the peer that the protocol does not permit; it ends the connection.
 */
final class ProtocolViolation extends Exception {
    private static final long serialVersionUID = 1;

    ProtocolViolation(final String message) {
        super(message, null, false, false);
    }
}
