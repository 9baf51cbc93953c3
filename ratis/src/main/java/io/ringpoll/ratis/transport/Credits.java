package io.ringpoll.ratis.transport;

/**
 * How many frames the two sides of a connection may send. A credit stands for a receive that the other side has posted: the
 * sender of a frame spends one, and the receiver owes it again as soon as the receive is posted anew. Guarded by the connection's
 * lock.
 */
final class Credits {
    /** What this side has given to the other at first. */
    private final int given;
    /** What the other side has given to this one at first. */
    private int most;
    private int own;
    /** What the other side still has, as far as this one knows. */
    private int peers;
    private int owed;

    Credits(final int given) {
        this.given = given;
        peers = given;
    }

    /** Takes what the peer has given when it introduced itself. */
    void begin(final int fromPeer) {
        most = fromPeer;
        own = fromPeer;
    }

    boolean isSpent() {
        return own == 0;
    }

    /** Spends one for a frame that has been posted. */
    void spend() {
        own--;
    }

    /** How many the next frame gives back. */
    int owed() {
        return owed;
    }

    /** Whether so many are owed that they are worth a frame of their own. */
    boolean isRepaymentDue() {
        return owed >= Math.max(1, given / 2);
    }

    /** A frame has been posted that gives back what was owed. */
    void onRepaid() {
        peers += owed;
        owed = 0;
    }

    /** Owes one more: its receive has been posted again, and what it brought needs no memory here any more. */
    void owe() {
        owed++;
    }

    /** Takes a frame that has come, whose receive has been posted again. */
    void onFrame(final FrameHeader header) throws ProtocolException {
        if (header.kind() != FrameKind.CREDIT) {
            if (--peers < 0) {
                throw new ProtocolException("a frame for which there was no credit");
            }
            // The credit of a long message comes back when it has been read: no peer announces more than that at a time.
            owed += header.isRendezvous() ? 0 : 1;
        }
        own += header.credits();
        if (own > most) {
            throw new ProtocolException(own + " credits, of " + most + " in all");
        }
    }
}
