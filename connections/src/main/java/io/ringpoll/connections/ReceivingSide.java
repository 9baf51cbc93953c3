package io.ringpoll.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.verbs.MessageReceives;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The receiving side of one connection: posted receives, and messages: the handled one, retained ones, and those that wait
 * because the listener has refused one. It has the polling thread, and so the timers.
 *
 * <p>Belongs to the polling thread; after the end of the set to the thread that releases retained messages. A buffer is posted,
 * or waiting, or retained, or passed to the listener, or pending: one call posts several receives, of which each costs half.
 */
abstract class ReceivingSide extends SendingSide {
    /** A view of the buffers, which the user gets and can make that of other memory. */
    final UnsafeBuffer bytes;
    /** Address of the buffers, for accesses of this layer. */
    final long address;

    /** Tag of the ids of its requests. */
    final long begin;

    private final MessageReceives receives;
    private final ConnectionListener listener;
    private final ConnectionPoller poller;
    /** Null if this has a completion queue of its own. */
    private final ExpectedConnection expected;
    private volatile Object attachment;
    /** Number of receives without a handled completion. */
    private int postedReceives;
    /** Buffer of the message that is being handled. */
    private int handledBuffer = NONE;
    /** Consecutive buffers of handled messages whose receives are to be posted again: from the first to one before the end. */
    private int firstPending;
    private int pendingEnd;
    private boolean handledIsRetained;
    private final RetainedMessages retained;
    private final WaitingMessages waiting;
    /** One of the scheduled timers, which has the others; null if there is none. */
    ConnectionTimer scheduled;

    ReceivingSide(final ConnectionPoller poller, final RcConnection connection, final MessageBuffers memory,
        final MessageLayout layout, final ExpectedConnection expected, final ConnectionListener listener) {
        super(connection, memory.region(), layout, ExpectedConnection.beginOf(expected));
        this.expected = expected;
        begin = ExpectedConnection.beginOf(expected);
        this.poller = poller;
        this.listener = listener;
        bytes = memory.newView();
        address = bytes.addressOffset();
        receives = connection.receives(memory.region());
        postedReceives = layout.receives();
        retained = new RetainedMessages(layout.receives());
        waiting = new WaitingMessages(layout.receives());
    }

    /**
     * Prepares a timer, which is not scheduled yet; any thread.
     *
     * @param task executed on the polling thread, each time that the timer is due; its exceptions are passed to the error handler
     *     of the set
     * @return for any number of executions
     */
    public final ConnectionTimer newTimer(final Runnable task) {
        return new ConnectionTimer((MessageConnection) this, Objects.requireNonNull(task, "the task is null"));
    }

    /**
     * The number of its polling thread; any thread.
     *
     * @return index in {@link ConnectionSet#pipelines()}, as of {@link ConnectionListener#onIdle}
     */
    public final int pollerIndex() {
        return poller.index();
    }

    /**
     * The object of the user for this connection, for instance its session; any thread.
     *
     * @return null if none was set
     */
    public final Object attachment() {
        return attachment;
    }

    /**
     * Attaches an object to this connection; any thread.
     *
     * @param object of the user; null for none
     */
    public final void attach(final Object object) {
        attachment = object;
    }

    final ConnectionListener listener() {
        return listener;
    }

    final ConnectionPoller poller() {
        return poller;
    }

    /** Null if this has a completion queue of its own. */
    final ExpectedConnection expected() {
        return expected;
    }

    /** Handles the early completions, of the time before this connection was polled. */
    final void deliverEarly() {
        if (expected != null) {
            expected.deliver((MessageConnection) this);
        }
    }

    @Override
    final void onRefused() {
        poller.counts().onRefusedSend();
    }

    /** Number of receives without a handled completion. */
    final int postedReceives() {
        return postedReceives;
    }

    final boolean hasRetained() {
        return !retained.isEmpty();
    }

    /** Counts the completion of a receive, of any status. */
    final void onReceiveCompleted() {
        postedReceives--;
    }

    /** Lets a message wait that the listener has refused, or that is behind such a message. */
    final void addWaiting(final int buffer, final int lengthBytes) {
        waiting.add(buffer, lengthBytes);
        state |= WAITING;
    }

    /** Passes the waiting messages to the listener until it refuses one; not from within the callback of a message. */
    final void deliverWaiting() {
        while (!waiting.isEmpty() && handledBuffer == NONE && isOpen() && handle(waiting.buffer(), waiting.lengthBytes())) {
            waiting.removeFirst();
        }
        if (waiting.isEmpty()) {
            state &= ~WAITING;
        }
    }

    /** Passes a message to the listener; false if the listener has refused it. */
    final boolean handle(final int buffer, final int lengthBytes) {
        handledBuffer = buffer;
        boolean handled = true;
        try {
            handled = listener.onMessage((MessageConnection) this, bytes, buffer * layout.strideBytes(), lengthBytes);
        } catch (final Throwable failure) {
            poller.onListenerException(failure);
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
    final long retainHandled() {
        if (handledBuffer == NONE || handledIsRetained) {
            throw new IllegalStateException(
                handledIsRetained ? "the message is retained already" : "no message of " + this + " is being handled");
        }
        handledIsRetained = true;
        return retained.add(handledBuffer);
    }

    /** Ends the retention of a message; returns its buffer, or a negative number if its callback has not returned. */
    final int endRetention(final long message) {
        final int buffer = retained.remove(message);
        if (buffer == NONE) {
            throw new IllegalStateException("message 0x" + Long.toHexString(message) + " is not retained on " + this);
        }
        if (buffer == handledBuffer) {
            // Valid until the callback returns; its result counts again.
            handledIsRetained = false;
            return NONE;
        }
        return buffer;
    }

    /** Makes the receive of a handled message pending; {@link #postPending} follows. */
    final void finish(final int buffer) {
        if (buffer != pendingEnd) {
            postPending();
            firstPending = buffer;
        }
        pendingEnd = buffer + 1;
        if (pendingEnd - firstPending >= layout.pendingReceives()) {
            postPending();
        }
    }

    /**
     * Whether the pending receives are to be posted again, or credits to be returned. A few receives wait for others, as one call
     * posts them all: the peer has more credits left then.
     */
    final boolean isReturnDue() {
        final int pending = pendingEnd - firstPending;
        return pending >= layout.receivesOfPost() || pending + owed >= peers;
    }

    /** Posts the pending receives again, and owes or returns their credits, if the connection is open. */
    final void postPending() {
        if (pendingEnd != firstPending) {
            postPending(firstPending, pendingEnd);
        }
    }

    private void postPending(final int first, final int end) {
        firstPending = end;
        if (isOpen()) {
            final int count = end - first;
            post(first, count);
            owed += count;
            returnCredits();
        }
    }

    /** Posts a receive again, if the connection is open. */
    final void repost(final int buffer) {
        postPending();
        if (isOpen()) {
            post(buffer, 1);
        }
    }

    private void post(final int first, final int count) {
        try {
            final int strideBytes = layout.strideBytes();
            final int accepted =
                receives.post((long) first * strideBytes, strideBytes, WorkRequestId.receive(begin, first), count);
            postedReceives += accepted;
            if (accepted < count) {
                fail("the receive queue is full");
            }
        } catch (final RdmaException | IllegalStateException failed) {
            fail(failed.getMessage());
        }
    }
}
