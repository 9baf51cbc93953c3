package io.ringpoll.internal.transport;

import java.io.IOException;

/** Thrown when a peer violates the protocol; its connection ends. */
final class ProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    ProtocolException(final String message) {
        super(message);
    }

    ProtocolException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
