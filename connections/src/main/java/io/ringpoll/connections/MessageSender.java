package io.ringpoll.connections;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;

/**
 * The sending side of one connection: credits from the peer, buffers, room in the send queue, and the open claim.
 *
 * <p>Belongs to the polling thread; after the end of the set to the thread that returns the claim. A message costs a credit
 * and a buffer; credit messages and the goodbye have room of their own in the send queue. One send in {@link
 * ConnectionSizes#signalInterval} is signalled, and its completion releases all before it: of as many sends as that, one is
 * signalled, so a sender without room always has a completion to wait for.
 */
final class MessageSender {
    private static final int NONE = -1;

    private final Connection connection;
    private final LocalMemoryRegion region;
    private final int firstOffset;
    private final int endOffset;
    private final int strideBytes;
    private final int buffers;
    private final int signalInterval;
    private final int maxCreditSends;
    private int maxMessageBytes;
    /** The peer's receives for messages. */
    private int window;
    /**
     * Number of messages that may be sent without another look at credits and buffers: one comparison for each. The claim takes
     * it to 0, and the claimed message then to -1.
     */
    private int room;
    /** The other credits: the sum is the number of receives that the peer has posted, as far as this side knows. */
    private int moreCredits;
    /** Counts of {@link WorkRequestId}, as the next. */
    private long posted;
    private long completed;
    private int nextOffset;
    private int claimedOffset = NONE;
    private int claimedLength;
    /** Whether a message was refused for lack of room, and no room has been taken notice of since. */
    private boolean refused;

    MessageSender(final Connection connection, final MessageBuffers memory, final ConnectionSizes sizes) {
        this.connection = connection;
        region = memory.region();
        buffers = sizes.window();
        strideBytes = memory.strideBytes();
        firstOffset = memory.sendOffset(0);
        endOffset = memory.sendOffset(buffers);
        nextOffset = firstOffset;
        signalInterval = sizes.signalInterval();
        maxCreditSends = sizes.creditSends();
    }

    /** Sets the window and the maximum length that both sides have agreed on; before the first send. */
    void open(final int agreedWindow, final int agreedMessageBytes) {
        window = agreedWindow;
        moreCredits = agreedWindow;
        maxMessageBytes = agreedMessageBytes;
    }

    int maxMessageBytes() {
        return maxMessageBytes;
    }

    int credits() {
        return room + moreCredits;
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
        return isAllowed ? nextOffset : lookForRoom(lengthBytes, isOpen);
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
        takeRoom(Math.min(credits(), freeBuffers()));
        if (room == 0) {
            refused = true;
            return MessageConnection.NO_CREDIT;
        }
        return nextOffset;
    }

    private void takeRoom(final int messages) {
        moreCredits = credits() - messages;
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
        return credits() > 0 && freeBuffers() > 0;
    }

    /** Number of buffers without a send whose completion is not known. */
    private int freeBuffers() {
        return buffers - WorkRequestId.messages(completed, posted);
    }

    /** Adds credits that the peer has returned. */
    void addCredits(final int returned) throws ProtocolViolation {
        if (returned > window - credits()) {
            throw new ProtocolViolation(returned + " credits returned, with " + credits() + " of " + window + " unused");
        }
        moreCredits += returned;
    }

    /** Posts the message in the next buffer; there is room. Returns false if the send queue is full, which is a defect. */
    boolean postMessage(final int lengthBytes, final int returnedCredits) {
        final int offset = nextOffset;
        if (!post(offset, lengthBytes, Immediate.of(Immediate.MESSAGE, returnedCredits), WorkRequestId.afterMessage(posted))) {
            return false;
        }
        room--;
        nextOffset = offset + strideBytes == endOffset ? firstOffset : offset + strideBytes;
        return true;
    }

    /** Whether the send queue has room for another empty message that returns credits. */
    boolean hasRoomForCredits() {
        return WorkRequestId.otherSends(completed, posted) < maxCreditSends;
    }

    /** Returns credits with an empty message; there is room. Returns false if the send queue is full, which is a defect. */
    boolean postCredits(final int returnedCredits) {
        return post(0, 0, Immediate.of(Immediate.CREDITS, returnedCredits), WorkRequestId.afterSend(posted));
    }

    /** Posts the last send; its completion completes all before it. */
    boolean postGoodbye(final int returnedCredits) {
        posted = WorkRequestId.afterSend(posted);
        return connection.sendWithImmediate(null, 0, 0, CompletionFlag.ALWAYS,
            Immediate.of(Immediate.GOODBYE, returnedCredits), WorkRequestId.goodbye(posted));
    }

    /** The id of a one-sided operation that is posted next; its completion completes all sends before it. */
    long operationId() {
        return WorkRequestId.operation(posted);
    }

    /** Releases the buffers of a completed send or operation and of all before it. */
    void onCompleted(final long workRequestId) {
        completed = WorkRequestId.counts(workRequestId);
    }

    private boolean post(final int offset, final int lengthBytes, final int immediate, final long id) {
        final boolean accepted = connection.sendWithImmediate(lengthBytes == 0 ? null : region, lengthBytes == 0 ? 0 : offset,
            lengthBytes, WorkRequestId.isMultipleOf(signalInterval, id) ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR,
            immediate, id);
        if (accepted) {
            posted = id;
        }
        return accepted;
    }

    @Override
    public String toString() {
        return MessageConnection.nameOf(connection);
    }
}
