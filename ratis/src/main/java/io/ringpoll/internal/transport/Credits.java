package io.ringpoll.internal.transport;

/**
 * Flow control: the number of frames that each side of a connection may send. A credit represents a receive posted by the other
 * side. The sender of a frame spends one, and the receiver owes it again when it has reposted the receive. Guarded by the
 * connection's lock.
 */
final class Credits {
    /** Number of credits granted to the peer initially. */
    private final int granted;
    /** Number of credits granted by the peer initially. */
    private int most;
    private int own;
    /** Number of credits that the peer has left, as far as this side knows. */
    private int peers;
    private int owed;

    Credits(final int granted) {
        this.granted = granted;
        peers = granted;
    }

    /** Adds the credits that the peer granted in its hello. */
    void begin(final int fromPeer) {
        most = fromPeer;
        own = fromPeer;
    }

    boolean isSpent() {
        return own == 0;
    }

    /** Spends a credit for a posted frame. */
    void spend() {
        own--;
    }

    /** Number of credits to return with the next frame. */
    int owed() {
        return owed;
    }

    /** Whether the number of owed credits justifies a credit frame. */
    boolean isRepaymentDue() {
        return owed >= Math.max(1, granted / 2);
    }

    /** Called when a frame has been posted that returns the owed credits. */
    void onRepaid() {
        peers += owed;
        owed = 0;
    }

    /** Owes the credit of a message that waited: it leaves for its delivery. */
    void owe() {
        owed++;
    }

    /**
     * Processes a received frame; its receive has been reposted.
     *
     * @param header of the frame
     * @param waits  whether its message waits for delivery: its credit is owed later, which bounds the messages that wait
     */
    void onFrame(final FrameHeader header, final boolean waits) throws ProtocolException {
        if (!FrameKind.isFree(header.kind())) {
            if (--peers < 0) {
                throw new ProtocolException("a frame without credit");
            }
            owed += waits ? 0 : 1;
        }
        own += header.credits();
        if (own > most) {
            throw new ProtocolException(own + " credits, of " + most + " in all");
        }
    }
}
