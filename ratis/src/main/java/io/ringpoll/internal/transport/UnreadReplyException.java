package io.ringpoll.internal.transport;

import java.io.IOException;

/** A peer has not read a reply for the time-out of replies. */
final class UnreadReplyException extends IOException {
    private static final long serialVersionUID = 1L;

    UnreadReplyException(final String message) {
        super(message);
    }
}
