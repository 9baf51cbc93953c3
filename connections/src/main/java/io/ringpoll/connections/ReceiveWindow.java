package io.ringpoll.connections;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;

/**
 * The receives of one connection: those that are posted, the credits owed to the peer, retained messages, and messages that wait
 * because the user has refused one.
 *
 * <p>Belongs to the polling thread. A buffer is posted, or waiting, or retained, or passed to the user.
 */
final class ReceiveWindow {
    private final Connection connection;
    private final LocalMemoryRegion region;
    private final int strideBytes;
    /** By buffer: 0, or the number of the retained message in it. */
    private final long[] retainedAs;
    /** Buffers and lengths of waiting messages, in order. */
    private final int[] waitingBuffers;
    private final int[] waitingLengths;
    private int firstWaiting;
    private int waiting;
    private int posted;
    private int retained;
    private long retentions;
    /** Number of messages that the peer may still send. */
    private int granted;
    private int owed;

    ReceiveWindow(final Connection connection, final MessageBuffers memory, final ConnectionSizes sizes) {
        this.connection = connection;
        region = memory.region();
        strideBytes = memory.strideBytes();
        posted = sizes.receives();
        retainedAs = new long[posted];
        waitingBuffers = new int[posted];
        waitingLengths = new int[posted];
    }

    /** Sets the window that both sides have agreed on; before the first receive completes. */
    void open(final int agreedWindow) {
        granted = agreedWindow;
    }

    /** Number of receives whose completion has not been handled. */
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
    void onMessage() throws ProtocolViolation {
        if (granted == 0) {
            throw new ProtocolViolation("a message without credit");
        }
        granted--;
    }

    /** Posts the receive of a handled message again and owes its credit; false if the queue is full, which is a defect. */
    boolean repostMessage(final int buffer) {
        owed++;
        return repost(buffer);
    }

    boolean repost(final int buffer) {
        if (connection.receive(region, (long) buffer * strideBytes, strideBytes, WorkRequestId.receive(buffer))) {
            posted++;
            return true;
        }
        return false;
    }

    /** Whether an empty message must return the credits, because the peer has no more left than are owed. */
    boolean isCreditDue() {
        return owed > 0 && owed >= granted;
    }

    int owed() {
        return owed;
    }

    /** The owed credits have been returned. */
    void onReturned() {
        granted += owed;
        owed = 0;
    }

    /** Retains the message in a buffer; returns its number. */
    long retain(final int buffer) {
        retained++;
        retainedAs[buffer] = ++retentions;
        return retentions << Integer.SIZE | buffer;
    }

    /** Ends the retention of a message; returns its buffer. */
    int release(final long message) {
        final int buffer = (int) message;
        if (buffer < 0 || buffer >= retainedAs.length || retainedAs[buffer] == 0 ||
            retainedAs[buffer] << Integer.SIZE != (message & -1L << Integer.SIZE)) {
            throw new IllegalStateException("message " + Long.toHexString(message) + " is not retained");
        }
        retainedAs[buffer] = 0;
        retained--;
        return buffer;
    }

    boolean hasWaiting() {
        return waiting > 0;
    }

    void addWaiting(final int buffer, final int lengthBytes) {
        final int last = (firstWaiting + waiting) % waitingBuffers.length;
        waitingBuffers[last] = buffer;
        waitingLengths[last] = lengthBytes;
        waiting++;
    }

    int firstWaitingBuffer() {
        return waitingBuffers[firstWaiting];
    }

    int firstWaitingLength() {
        return waitingLengths[firstWaiting];
    }

    void removeFirstWaiting() {
        firstWaiting = firstWaiting + 1 == waitingBuffers.length ? 0 : firstWaiting + 1;
        waiting--;
    }
}
