package io.ringpoll.connections;

import io.ringpoll.internal.connections.Credits;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RpmaException;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The receiving side of one connection: posted receives, credits owed to the peer, and messages: the handled one, retained ones,
 * and those that wait because the listener has refused one.
 *
 * <p>Belongs to the polling thread; after the end of the set to the thread that releases retained messages. A buffer is posted,
 * or waiting, or retained, or passed to the listener, or pending: one call posts several receives, of which each costs half.
 */
final class MessageReceiver {
    private static final int NONE = -1;

    private final MessageConnection owner;
    private final Connection connection;
    private final ConnectionListener listener;
    private final LocalMemoryRegion region;
    private final UnsafeBuffer bytes;
    private final int strideBytes;
    /** By buffer: 0, or the number of the retained message in it. */
    private final long[] retainedAs;
    /** Buffers and lengths of waiting messages, in order. */
    private final int[] waitingBuffers;
    private final int[] waitingLengths;
    private int firstWaiting;
    private int waiting;
    /** Consecutive buffers of handled messages whose receives are to be posted again: from the first to one before the end. */
    private int firstPending;
    private int pendingEnd;
    private final int maxPending;
    private int posted;
    private int retained;
    private long retentions;
    private int maxMessageBytes;
    private final Credits credits;
    /** Buffer of the message that is being handled. */
    private int handledBuffer = NONE;
    private boolean handledIsRetained;

    MessageReceiver(final MessageConnection owner, final MessageBuffers memory, final UnsafeBuffer bytes,
        final ConnectionSizes sizes, final Credits credits, final ConnectionListener listener) {
        this.owner = owner;
        this.credits = credits;
        this.listener = listener;
        this.bytes = bytes;
        connection = owner.connection();
        region = RpmaObjects.of(memory.region());
        strideBytes = memory.strideBytes();
        posted = sizes.receives();
        maxPending = sizes.pendingReceives();
        retainedAs = new long[posted];
        waitingBuffers = new int[posted];
        waitingLengths = new int[posted];
    }

    /** Sets the maximum length that both sides have agreed on; before the first receive completes. */
    void open(final int agreedMessageBytes) {
        maxMessageBytes = agreedMessageBytes;
    }

    /** Number of receives without a handled completion. */
    int posted() {
        return posted;
    }

    int retained() {
        return retained;
    }

    /** Counts the completion of a receive, of any status. */
    void onCompleted() {
        posted--;
    }

    /** Spends a credit of the peer. */
    void spendCredit() throws ProtocolViolation {
        if (!credits.spendPeers()) {
            throw new ProtocolViolation("a message without credit");
        }
    }

    /** Passes a message to the listener, or lets it wait behind one that the listener has refused. */
    void deliver(final int buffer, final int lengthBytes) throws ProtocolViolation {
        if (lengthBytes > maxMessageBytes) {
            throw new ProtocolViolation("a message of " + lengthBytes + " bytes, over the maximum of " + maxMessageBytes);
        }
        if (waiting > 0 || !handle(buffer, lengthBytes)) {
            addWaiting(buffer, lengthBytes);
        }
    }

    /** Passes the waiting messages to the listener until it refuses one; not from within the callback of a message. */
    void deliverWaiting() {
        while (waiting > 0 && handledBuffer == NONE && owner.isOpen() &&
            handle(waitingBuffers[firstWaiting], waitingLengths[firstWaiting])) {
            firstWaiting = firstWaiting + 1 == waitingBuffers.length ? 0 : firstWaiting + 1;
            waiting--;
        }
    }

    /** As {@link #deliverWaiting}, also between two duty cycles of an agent. */
    void resume() {
        final Thread before = owner.poller().enterCallbacks();
        try {
            deliverWaiting();
        } finally {
            owner.poller().leaveCallbacks(before);
        }
    }

    private void addWaiting(final int buffer, final int lengthBytes) {
        final int last = (firstWaiting + waiting) % waitingBuffers.length;
        waitingBuffers[last] = buffer;
        waitingLengths[last] = lengthBytes;
        waiting++;
    }

    /** Passes a message to the listener; false if the listener has refused it. */
    private boolean handle(final int buffer, final int lengthBytes) {
        handledBuffer = buffer;
        boolean handled = true;
        try {
            handled = listener.onMessage(owner, bytes, buffer * strideBytes, lengthBytes);
        } catch (final Throwable failure) {
            owner.poller().onListenerException(failure);
        }
        handledBuffer = NONE;
        if (handledIsRetained) {
            handledIsRetained = false;
            return true;
        }
        if (handled) {
            finish(buffer);
        }
        return handled;
    }

    /** Retains the message that is being handled; returns its handle. */
    long retain() {
        if (handledBuffer == NONE || handledIsRetained) {
            throw new IllegalStateException(
                handledIsRetained ? "the message is retained already" : "no message of " + owner + " is being handled");
        }
        handledIsRetained = true;
        retained++;
        retainedAs[handledBuffer] = ++retentions;
        return retentions << Integer.SIZE | handledBuffer;
    }

    /** Ends the retention of a message; returns its buffer, or a negative number if its callback has not returned. */
    int release(final long message) {
        final int buffer = (int) message;
        if (buffer < 0 || buffer >= retainedAs.length || retainedAs[buffer] == 0 ||
            retainedAs[buffer] << Integer.SIZE != (message & -1L << Integer.SIZE)) {
            throw new IllegalStateException("message " + Long.toHexString(message) + " is not retained");
        }
        retainedAs[buffer] = 0;
        retained--;
        if (buffer == handledBuffer) {
            // Valid until the callback returns; its result counts again.
            handledIsRetained = false;
            return NONE;
        }
        return buffer;
    }

    /** Makes the receive of a handled message pending; {@link #postPending} follows. */
    void finish(final int buffer) {
        if (buffer != pendingEnd) {
            postPending();
            firstPending = buffer;
        }
        pendingEnd = buffer + 1;
        if (pendingEnd - firstPending >= maxPending) {
            postPending();
        }
    }

    /** Posts the pending receives again, and owes or returns their credits, if the connection is open. */
    void postPending() {
        final int first = firstPending;
        final int count = pendingEnd - first;
        firstPending = pendingEnd;
        if (count > 0 && owner.isOpen()) {
            post(first, count);
            credits.owe(count);
            owner.returnCredits();
        }
    }

    /** Posts a receive again, if the connection is open. */
    void repost(final int buffer) {
        postPending();
        if (owner.isOpen()) {
            post(buffer, 1);
        }
    }

    private void post(final int first, final int count) {
        try {
            final int accepted =
                connection.receive(region, (long) first * strideBytes, strideBytes, WorkRequestId.receive(first), count);
            posted += accepted;
            if (accepted < count) {
                owner.fail("the receive queue is full");
            }
        } catch (final RpmaException | IllegalStateException failed) {
            owner.fail(failed.getMessage());
        }
    }

    /** Whether an empty message must return the credits, because the peer has no more left than are owed. */
    boolean isCreditDue() {
        return credits.isMostOwed();
    }

    int owed() {
        return credits.owed();
    }

    /** The owed credits have been returned. */
    void onReturned() {
        credits.onReturned();
    }
}
