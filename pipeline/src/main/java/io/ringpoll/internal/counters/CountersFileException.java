package io.ringpoll.internal.counters;

/**
 * Thrown when a counters file cannot be read; the message is one line.
 */
public final class CountersFileException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CountersFileException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
