package io.ringpoll.internal.transport;

import java.io.IOException;

/** Thrown for a message that is longer than one of the two sides accepts: it can never be sent on this connection. */
public final class MessageTooLongException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int limitBytes;

    /**
     * Creates the exception of a reply, as the peer reports it.
     *
     * @param message of the peer
     */
    public MessageTooLongException(final String message) {
        this(message, Integer.MAX_VALUE);
    }

    /**
     * Creates the exception of a request.
     *
     * @param message    names the setting
     * @param limitBytes maximum length of a request
     */
    public MessageTooLongException(final String message, final int limitBytes) {
        super(message);
        this.limitBytes = limitBytes;
    }

    /**
     * The limit for a request of this side.
     *
     * @return a length in bytes; {@link Integer#MAX_VALUE} if the reply was too long
     */
    public int limitBytes() {
        return limitBytes;
    }
}
