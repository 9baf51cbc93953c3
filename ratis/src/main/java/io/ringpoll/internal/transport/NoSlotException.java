package io.ringpoll.internal.transport;

import java.io.IOException;

/** Ends the connection of a peer that has proven the secret when the last slot had been taken. */
final class NoSlotException extends IOException {
    private static final long serialVersionUID = 1;

    NoSlotException(final String message) {
        super(message);
    }
}
