package io.ringpoll.connections;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The reason why a connection ends, with its detail. The first reason counts, unless a later one explains it. Any thread requests
 * the end; the polling thread notes received and dropped messages.
 */
final class ConnectionEnd {
    private final AtomicReference<Reason> reason = new AtomicReference<>();
    /** This side has closed the connection, perhaps after the first reason. */
    private volatile boolean closedHere;
    /** The peer has gone, perhaps after the first reason. */
    private volatile boolean peerGone;
    /** The peer's last message has been received; polling thread, as the next. */
    private boolean goodbyeReceived;
    private boolean messageDropped;

    private record Reason(DisconnectReason reason, String detail) {
    }

    /** Returns whether there was no reason before. */
    boolean request(final DisconnectReason first, final String detail) {
        if (first == DisconnectReason.CLOSED) {
            closedHere = true;
        } else if (first == DisconnectReason.PEER_LOST) {
            peerGone = true;
        }
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

    /** Whether the peer is to get a goodbye. One to a peer that has gone would fail, after the time-outs of the device. */
    boolean saysGoodbye() {
        return reason() == DisconnectReason.CLOSED && !peerGone;
    }

    void onGoodbye() {
        goodbyeReceived = true;
    }

    /** Whether messages that are polled now are still delivered; to be called only when there is a reason. */
    boolean deliversReceived() {
        return !closedHere && reason().deliversReceived();
    }

    /** Notes received messages that are not delivered, by the kind of their immediate data. */
    void onDropped(final int kind) {
        goodbyeReceived |= kind == Immediate.GOODBYE;
        messageDropped |= kind == Immediate.MESSAGE;
    }

    /**
     * Decides on the reason for the listener. A disconnect event that is handled before the goodbye is polled looks like the loss
     * of the peer; the goodbye shows that the peer has closed. That is not reported if this side has dropped messages after its
     * own close.
     *
     * @param waits whether messages wait, which are dropped now
     */
    DisconnectReason conclude(final boolean waits) {
        if (goodbyeReceived && reason() == DisconnectReason.PEER_LOST) {
            final boolean dropped = closedHere && (messageDropped || waits);
            // Without the detail, which is that of a loss.
            reason.set(new Reason(dropped ? DisconnectReason.CLOSED : DisconnectReason.PEER_CLOSED, ""));
        }
        return reason();
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
