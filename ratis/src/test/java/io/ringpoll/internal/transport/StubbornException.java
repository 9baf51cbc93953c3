package io.ringpoll.internal.transport;

import java.io.IOException;

/** An exception that a peer may name, and that accepts no cause. */
public final class StubbornException extends IOException {
    private static final long serialVersionUID = 1;

    /** Has a text. */
    public StubbornException(final String text) {
        super(text);
    }

    @Override
    public Throwable initCause(final Throwable cause) {
        throw new UnsupportedOperationException("no cause");
    }
}
