package io.ringpoll.connections;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.verbs.MessageSends;

/**
 * The sending side of one connection: the credits of both sides, buffers, room in the send queue, and the open claim.
 *
 * <p>A superclass of {@link MessageConnection} and not a part of it, as is {@link ReceivingSide}: with many connections each
 * object that a message touches is a cache miss. So the fields of a message are beside each other, and what connections have in
 * common is in the {@link MessageLayout}.
 *
 * <p>Belongs to the polling thread; after the end of the set to the thread that returns the claim. A message costs a credit and a
 * buffer. The buffers are used in turn. Sends complete in the order of their posts: every n-th one is signalled, where n is the
 * signal interval, and its completion releases the buffers of all sends before it. There are at least n buffers: when all are in
 * use, a signalled send is among them. Credit messages and the goodbye have room of their own in the send queue.
 *
 * <p>Frequent methods are short, and call others for what is rare: the JIT compiler inlines up to 35 bytes of code also where a
 * profile does not show yet that a call is frequent.
 */
abstract class SendingSide {
    /** Bit of {@link #state}: sends and receives must not be posted. */
    static final int CLOSED = 1;
    /** Bit of {@link #state}: messages wait, because the listener has refused one. */
    static final int WAITING = 1 << 1;
    /** Bit of {@link #state}: a send was not posted, so that the peer must not take the end for an orderly one. */
    static final int UNSENT = 1 << 2;
    /** No offset, or no buffer. */
    static final int NONE = -1;

    /** Numbers of all connections. */
    final MessageLayout layout;
    /** Bits; 0 if messages are sent and received without further checks. */
    int state = CLOSED;
    /** Agreed by both sides. */
    int maxMessageBytes;
    /** Number of credits that the peer has left, as far as this side knows. */
    int peers;
    /** Number of credits to return with the next message: the receives of handled messages have been posted again. */
    int owed;

    private final MessageSends sends;
    /** Counts of {@link WorkRequestId}, as the next. */
    private long posted;
    private long completed;
    /** Place of the buffer for the next message. */
    private int nextOffset;
    /**
     * Number of messages that may be sent without another check of credits, buffers and the state: one comparison for each. Their
     * credits are reserved. The claim takes it to 0, and the claimed message then to -1; the end takes it to 0, too.
     */
    private int room;
    /** Number of credits that are neither spent nor reserved. */
    private int own;
    /** Number of credits that the peer has granted. */
    private int most;
    private int claimedOffset = NONE;
    private int claimedLength;
    /** Whether a message was refused for lack of room, and no room has been taken notice of since. */
    private boolean refused;
    private final RcConnection connection;
    private final CompletionQueue queue;

    /** The counts begin with the tag of the connection, of {@link WorkRequestId#begin}. */
    SendingSide(final RcConnection connection, final RcMemory region, final MessageLayout layout, final long begin) {
        this.connection = connection;
        posted = begin;
        completed = begin;
        queue = PolledQueue.of(connection);
        this.layout = layout;
        sends = connection.sends(region);
        nextOffset = layout.firstSend();
    }

    /** Ends the connection for a failure of its own. */
    abstract void fail(String detail);

    /** A send was refused for lack of credit or of a buffer. */
    abstract void onRefused();

    /** Ends the connection because the peer has violated the protocol. */
    abstract void onViolation(String detail);

    final RcConnection connection() {
        return connection;
    }

    /** The queue that the poller polls. */
    final CompletionQueue queue() {
        return queue;
    }

    /** Whether sends and receives may be posted; polling thread. */
    final boolean isOpen() {
        return (state & CLOSED) == 0;
    }

    /** Sets the negotiated values; before the first send and receive. */
    final void begin(final int window, final int agreedMessageBytes) {
        maxMessageBytes = agreedMessageBytes;
        peers = window;
        most = window;
        own = window;
    }

    final void open() {
        state &= ~CLOSED;
    }

    /** Posts nothing more. */
    final void shut() {
        state |= CLOSED;
        takeRoom(0);
    }

    /** Number of messages for which there is credit. */
    final int ownCredits() {
        return room + own;
    }

    /** Claims the buffer for the next message; the result is that of {@link MessageConnection#tryClaim}. */
    final int claim(final int lengthBytes) {
        final int next = nextOffset(lengthBytes);
        if (next >= 0) {
            takeRoom(0);
            claimedOffset = next;
            claimedLength = lengthBytes;
        }
        return next;
    }

    /** Offset of the buffer for the next message, or the negative result of a refused claim. */
    final int nextOffset(final int lengthBytes) {
        final boolean isAllowed = Integer.compareUnsigned(lengthBytes, maxMessageBytes) <= 0 && room > 0;
        return isAllowed ? nextOffset : lookForRoom(lengthBytes);
    }

    private int lookForRoom(final int lengthBytes) {
        if (lengthBytes < 0 || lengthBytes > maxMessageBytes) {
            throw new IllegalArgumentException(
                "a message of " + lengthBytes + " bytes; " + this + " carries 0 to " + maxMessageBytes);
        }
        if (claimedOffset != NONE) {
            throw new IllegalStateException("a claim of " + this + " is open: commit or abort it first");
        }
        if (!isOpen()) {
            return MessageConnection.NOT_CONNECTED;
        }
        takeRoom(Math.min(ownCredits(), freeBuffers()));
        if (room == 0) {
            refused = true;
            onRefused();
            return MessageConnection.NO_CREDIT;
        }
        return nextOffset;
    }

    private void takeRoom(final int messages) {
        own -= messages - room;
        room = messages;
    }

    /** Number of buffers whose sends have all completed. */
    private int freeBuffers() {
        return layout.sends() - WorkRequestId.messages(completed, posted);
    }

    /** Ends the claim with an index; returns the claimed length. */
    final int takeClaim(final int index) {
        if (index != claimedOffset || index == NONE) {
            throw new IllegalStateException("index " + index + " is not claimed on " + this);
        }
        claimedOffset = NONE;
        return claimedLength;
    }

    final boolean hasClaim() {
        return claimedOffset != NONE;
    }

    /** Whether there is room again after a refusal, which is forgotten then. */
    final boolean takeRefusal() {
        final boolean isOver = refused && hasRoom();
        if (isOver) {
            refused = false;
        }
        return isOver;
    }

    /** Whether a message was refused since {@link #takeRefusal}. */
    final boolean isRefused() {
        return refused;
    }

    /** Whether there is room left; if there is none, the refusal that was taken counts again. */
    final boolean hasRoomLeft() {
        refused = !hasRoom();
        return !refused;
    }

    private boolean hasRoom() {
        return ownCredits() > 0 && freeBuffers() > 0;
    }

    /** Adds credits that the peer has returned; false if these are more than it has got, which ends the connection. */
    final boolean addCredits(final int returned) {
        final int sum = own + returned;
        own = sum;
        if (sum > most - room) {
            return refuseCredits(returned);
        }
        return true;
    }

    private boolean refuseCredits(final int returned) {
        onViolation(returned + " credits returned, with " + (ownCredits() - returned) + " of " + most + " unused");
        return false;
    }

    /** Posts the message in the next buffer, with the owed credits; there is room. */
    final void postMessage(final int lengthBytes) {
        final long id = WorkRequestId.afterMessage(posted);
        if (post(nextOffset, lengthBytes, Immediate.MESSAGE, id)) {
            room--;
            final int next = nextOffset + layout.strideBytes();
            nextOffset = next == layout.endOfSends() ? layout.firstSend() : next;
        }
    }

    /** Returns owed credits by a message of their own if the peer may be waiting for them; later, if there is no room yet. */
    final void returnCredits() {
        if (owed > 0 && owed >= peers) {
            sendCredits();
        }
    }

    private void sendCredits() {
        if (isOpen() && WorkRequestId.otherSends(completed, posted) < layout.creditSends()) {
            post(0, 0, Immediate.CREDITS, WorkRequestId.afterSend(posted));
        }
    }

    private boolean post(final int offset, final int lengthBytes, final int kind, final long id) {
        try {
            if (sends.post(offset, lengthBytes, WorkRequestId.isMultipleOf(layout.signalInterval(), id),
                Immediate.of(kind, owed), id)) {
                posted = id;
                peers += owed;
                owed = 0;
                return true;
            }
            // Nothing would return the credits later, and the peer would wait for ever.
            failUnsent("the send queue is full");
        } catch (final RdmaException | IllegalStateException failed) {
            failUnsent(failed.getMessage());
        }
        return false;
    }

    private void failUnsent(final String detail) {
        state |= UNSENT;
        fail(detail);
    }

    /** Posts the last send; its completion completes all before it. Returns whether it was accepted. */
    final boolean postGoodbye() {
        final long id = WorkRequestId.afterSend(posted);
        posted = id;
        try {
            return connection.sendWithImmediate(null, 0, 0, true, Immediate.of(Immediate.GOODBYE, owed),
                WorkRequestId.goodbye(id));
        } catch (final RdmaException | IllegalStateException failed) {
            return false;
        }
    }

    /** Posts a write of nothing, which the peer's device acknowledges; returns whether it was accepted. */
    final boolean postKeepalive() {
        try {
            if (connection.write(null, 0, null, 0, 0, true, WorkRequestId.keepalive(posted))) {
                return true;
            }
            fail("the send queue is full");
        } catch (final RdmaException | IllegalStateException failed) {
            fail(failed.getMessage());
        }
        return false;
    }

    /**
     * A number that changes when the peer is heard of, or something was posted that its device acknowledges. Any thread, without
     * synchronization: a number that comes late, or is the same again by chance, costs a keepalive.
     */
    long progress() {
        return 31 * (31 * (31 * posted + completed) + peers) + ownCredits();
    }

    /** The id of a one-sided operation that is posted next; its completion completes all sends before it. */
    final long operationId() {
        return WorkRequestId.operation(posted);
    }

    /** Releases the buffers of a completed send or operation and of all before it. */
    final void onSendCompleted(final long workRequestId) {
        completed = WorkRequestId.counts(workRequestId);
    }

    @Override
    public String toString() {
        return "message " + connection.name();
    }
}
