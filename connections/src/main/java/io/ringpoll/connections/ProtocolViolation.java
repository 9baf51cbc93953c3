package io.ringpoll.connections;

import java.io.IOException;

/**
 * A value from the peer that the protocol does not permit; it ends the connection.
 */
final class ProtocolViolation extends IOException {
    private static final long serialVersionUID = 1;

    ProtocolViolation(final String message) {
        super(message);
    }
}
