package io.ringpoll.internal.transport;

import java.io.IOException;

/** A peer has been silent for the time-out of the keepalive. */
final class PeerLostException extends IOException {
    private static final long serialVersionUID = 1L;

    PeerLostException(final String message) {
        super(message);
    }
}
