package io.ringpoll.internal.transport;

/**
 * Flow control of one link, or of one class of its frames: the number of frames that each side may send. A credit is a receive
 * that the other side has posted. The sender of a frame spends one, and the receiver owes it again when the next frame has room.
 *
 * <p>Guarded by the lock of the link.
 */
final class Credits {
    private int granted;
    /** Number of credits that the peer has granted. */
    private int most;
    private int own;
    /** Number of credits that the peer has left, as far as this side knows. */
    private int peers;
    private int owed;

    /** Begins with all credits of both sides; those that the peer grants are 0 if they are not known yet. */
    void begin(final int toPeer, final int fromPeer) {
        granted = toPeer;
        peers = toPeer;
        beginOwn(fromPeer);
    }

    /** Begins with all credits that the peer grants. */
    void beginOwn(final int fromPeer) {
        most = fromPeer;
        own = fromPeer;
    }

    /** Number of frames that this side may send. */
    int own() {
        return own;
    }

    /** Spends credits of this side. */
    void spend(final int frames) {
        own -= frames;
    }

    /** Number of credits that the peer has granted in all. */
    int most() {
        return most;
    }

    /** Adds credits that the peer has returned; false if it returns more than it has got, which violates the protocol. */
    boolean add(final int returned) {
        own += returned;
        return own <= most;
    }

    /** Spends a credit of the peer, for a received frame; false if it has none left, which violates the protocol. */
    boolean spendPeers() {
        return --peers >= 0;
    }

    /** Owes credits again. */
    void owe(final int frames) {
        owed += frames;
    }

    /** Number of credits to return with the next frame. */
    int owed() {
        return owed;
    }

    /** Whether half of the granted credits are owed. */
    boolean isHalfOwed() {
        return owed >= Math.max(1, granted / 2);
    }

    /** The owed credits have been returned. */
    void onReturned() {
        peers += owed;
        owed = 0;
    }
}
