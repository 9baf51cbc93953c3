package io.ringpoll.connections;

import java.util.concurrent.atomic.AtomicReference;

/** The reason for which a connection ends, and its detail: the first one counts, or what explains it. Any thread. */
final class ConnectionEnd {
    private final AtomicReference<Reason> reason = new AtomicReference<>();

    private record Reason(DisconnectReason reason, String detail) {
    }

    /** Returns whether there was no reason before. */
    boolean request(final DisconnectReason first, final String detail) {
        return reason.compareAndSet(null, new Reason(first, detail));
    }

    /**
     * Replaces the loss of the peer by its cause: the event of a disconnect may be seen before the completion of the work request
     * that has failed.
     *
     * @param cause no effect if it is the loss of the peer itself
     */
    void explain(final DisconnectReason cause, final String detail) {
        final Reason first = reason.get();
        if (cause != DisconnectReason.PEER_LOST && first != null && first.reason == DisconnectReason.PEER_LOST) {
            reason.compareAndSet(first, new Reason(cause, detail));
        }
    }

    /** Null if the connection does not end. */
    DisconnectReason reason() {
        final Reason first = reason.get();
        return first == null ? null : first.reason;
    }

    /** Empty if the connection does not end. */
    String detail() {
        final Reason first = reason.get();
        return first == null ? "" : first.detail;
    }
}
