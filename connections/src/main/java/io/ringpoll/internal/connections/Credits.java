package io.ringpoll.internal.connections;

/**
 * Flow control of one connection, or of one class of its messages: the number of messages that each side may send. A credit is a
 * receive that the other side has posted. The sender of a message spends one, and the receiver owes it again when it has posted
 * the receive again.
 *
 * <p>Belongs to one thread at a time, or is guarded by its owner's lock.
 */
public final class Credits {
    private int granted;
    /** Number of credits that the peer has granted. */
    private int most;
    private int own;
    /** Number of credits that the peer has left, as far as this side knows. */
    private int peers;
    private int owed;

    /** Creates an account in which neither side has credits. */
    public Credits() {
        // Until the begin.
    }

    /**
     * Begins with all credits of both sides.
     *
     * @param toPeer   credits that this side grants
     * @param fromPeer credits that the peer grants, 0 if they are not known yet
     */
    public void begin(final int toPeer, final int fromPeer) {
        granted = toPeer;
        peers = toPeer;
        beginOwn(fromPeer);
    }

    /**
     * Begins with all credits of this side.
     *
     * @param fromPeer credits that the peer grants
     */
    public void beginOwn(final int fromPeer) {
        most = fromPeer;
        own = fromPeer;
    }

    /**
     * Number of messages that this side may send.
     *
     * @return 0 or more
     */
    public int own() {
        return own;
    }

    /**
     * Spends credits of this side.
     *
     * @param messages number of messages
     */
    public void spend(final int messages) {
        own -= messages;
    }

    /**
     * Number of credits that the peer has granted in all.
     *
     * @return as at the begin
     */
    public int most() {
        return most;
    }

    /**
     * Adds credits that the peer has returned.
     *
     * @param returned 0 or more
     * @return false if the peer returns more than it has got, which violates the protocol
     */
    public boolean add(final int returned) {
        own += returned;
        return own <= most;
    }

    /**
     * Spends a credit of the peer, for a received message.
     *
     * @return false if it has none left, which violates the protocol
     */
    public boolean spendPeers() {
        return --peers >= 0;
    }

    /**
     * Owes credits again: the receives of handled messages have been posted again.
     *
     * @param messages number of messages
     */
    public void owe(final int messages) {
        owed += messages;
    }

    /**
     * Number of credits to return with the next message.
     *
     * @return 0 or more
     */
    public int owed() {
        return owed;
    }

    /**
     * Whether half of the granted credits are owed.
     *
     * @return false if none is owed
     */
    public boolean isHalfOwed() {
        return owed >= Math.max(1, granted / 2);
    }

    /** The owed credits have been returned. */
    public void onReturned() {
        peers += owed;
        owed = 0;
    }
}
