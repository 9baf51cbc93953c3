package io.ringpoll.connections;

import io.ringpoll.internal.connections.Credits;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.SendRing;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;

/**
 * The sending side of one connection: credits from the peer, buffers, room in the send queue, and the open claim.
 *
 * <p>Belongs to the polling thread; after the end of the set to the thread that returns the claim. A message costs a credit
 * and a buffer of the {@link SendRing}; credit messages and the goodbye have room of their own in the send queue.
 */
final class MessageSender {
    private static final int NONE = -1;

    private final Connection connection;
    private final LocalMemoryRegion region;
    private final SendRing ring;
    private final int maxCreditSends;
    private final Credits credits;
    private int maxMessageBytes;
    /**
     * Number of messages that may be sent without another look at credits and buffers: one comparison for each. Their credits
     * are reserved. The claim takes it to 0, and the claimed message then to -1.
     */
    private int room;
    private int claimedOffset = NONE;
    private int claimedLength;
    /** Whether a message was refused for lack of room, and no room has been taken notice of since. */
    private boolean refused;

    MessageSender(final Connection connection, final MessageBuffers memory, final ConnectionSizes sizes,
        final Credits credits) {
        this.credits = credits;
        this.connection = connection;
        region = RpmaObjects.of(memory.region());
        ring = new SendRing(memory, sizes.signalInterval());
        maxCreditSends = sizes.creditSends();
    }

    /** Sets the maximum length that both sides have agreed on; before the first send. */
    void open(final int agreedMessageBytes) {
        maxMessageBytes = agreedMessageBytes;
    }

    int maxMessageBytes() {
        return maxMessageBytes;
    }

    int credits() {
        return room + credits.own();
    }

    /** Claims the buffer for the next message; the result is that of {@link MessageConnection#tryClaim}. */
    int tryClaim(final int lengthBytes, final boolean isOpen) {
        final int next = nextOffset(lengthBytes, isOpen);
        if (next >= 0) {
            takeRoom(0);
            claimedOffset = next;
            claimedLength = lengthBytes;
        }
        return next;
    }

    /** Offset of the buffer for the next message, or the negative result of a refused claim. */
    int nextOffset(final int lengthBytes, final boolean isOpen) {
        final boolean isAllowed = Integer.compareUnsigned(lengthBytes, maxMessageBytes) <= 0 && room > 0 && isOpen;
        return isAllowed ? ring.nextOffset() : lookForRoom(lengthBytes, isOpen);
    }

    private int lookForRoom(final int lengthBytes, final boolean isOpen) {
        if (lengthBytes < 0 || lengthBytes > maxMessageBytes) {
            throw new IllegalArgumentException(
                "a message of " + lengthBytes + " bytes; " + this + " carries 0 to " + maxMessageBytes);
        }
        if (claimedOffset != NONE) {
            throw new IllegalStateException("a claim of " + this + " is open: commit or abort it first");
        }
        if (!isOpen) {
            return MessageConnection.NOT_CONNECTED;
        }
        takeRoom(Math.min(credits(), ring.free()));
        if (room == 0) {
            refused = true;
            return MessageConnection.NO_CREDIT;
        }
        return ring.nextOffset();
    }

    private void takeRoom(final int messages) {
        credits.spend(messages - room);
        room = messages;
    }

    /** Ends the claim with an index; returns the claimed length. */
    int endClaim(final int index) {
        if (index != claimedOffset || index == NONE) {
            throw new IllegalStateException("index " + index + " is not claimed on " + this);
        }
        claimedOffset = NONE;
        return claimedLength;
    }

    boolean hasClaim() {
        return claimedOffset != NONE;
    }

    /** Whether there is room again after a refusal, which is forgotten then. */
    boolean takeRefusal() {
        final boolean isOver = refused && hasRoom();
        if (isOver) {
            refused = false;
        }
        return isOver;
    }

    /** Whether a message was refused since {@link #takeRefusal}. */
    boolean isRefused() {
        return refused;
    }

    /** Whether there is room left; if there is none, the refusal that was taken counts again. */
    boolean hasRoomLeft() {
        refused = !hasRoom();
        return !refused;
    }

    private boolean hasRoom() {
        return credits() > 0 && ring.free() > 0;
    }

    /** Adds credits that the peer has returned. */
    void addCredits(final int returned) throws ProtocolViolation {
        if (!credits.add(returned, room)) {
            throw new ProtocolViolation(
                returned + " credits returned, with " + (credits() - returned) + " of " + credits.most() + " unused");
        }
    }

    /** Posts the message in the next buffer; there is room. Returns false if the send queue is full, which is a defect. */
    boolean postMessage(final int lengthBytes, final int returnedCredits) {
        final long id = ring.messageId();
        if (!post(ring.nextOffset(), lengthBytes, Immediate.of(Immediate.MESSAGE, returnedCredits), id)) {
            return false;
        }
        room--;
        ring.onMessage(id);
        return true;
    }

    /** Whether the send queue has room for another empty message that returns credits. */
    boolean hasRoomForCredits() {
        return ring.otherSends() < maxCreditSends;
    }

    /** Returns credits with an empty message; there is room. Returns false if the send queue is full, which is a defect. */
    boolean postCredits(final int returnedCredits) {
        final long id = ring.otherSendId();
        if (!post(0, 0, Immediate.of(Immediate.CREDITS, returnedCredits), id)) {
            return false;
        }
        ring.onOtherSend(id);
        return true;
    }

    /** Posts the last send; its completion completes all before it. */
    boolean postGoodbye(final int returnedCredits) {
        final long id = ring.otherSendId();
        ring.onOtherSend(id);
        return connection.sendWithImmediate(null, 0, 0, CompletionFlag.ALWAYS,
            Immediate.of(Immediate.GOODBYE, returnedCredits), WorkRequestId.goodbye(id));
    }

    /** The id of a one-sided operation that is posted next; its completion completes all sends before it. */
    long operationId() {
        return ring.operationId();
    }

    /** Releases the buffers of a completed send or operation and of all before it. */
    void onCompleted(final long workRequestId) {
        ring.onCompleted(workRequestId);
    }

    private boolean post(final int offset, final int lengthBytes, final int immediate, final long id) {
        return connection.sendWithImmediate(lengthBytes == 0 ? null : region, lengthBytes == 0 ? 0 : offset, lengthBytes,
            ring.isSignaled(id) ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, immediate, id);
    }

    @Override
    public String toString() {
        return MessageConnection.nameOf(connection);
    }
}
