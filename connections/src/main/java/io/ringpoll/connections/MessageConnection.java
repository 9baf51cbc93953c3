package io.ringpoll.connections;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.RemoteMemory;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A connection that carries messages in both directions, reliably and in order, each with its exact length.
 *
 * <p>Belongs to its polling thread, on which all callbacks run: sends, claims, retention and {@link #resume()} are refused on
 * other threads, which call {@link #execute}. Any thread may call {@link #close()} and read the other properties than {@link
 * #credits()}. Sending and receiving allocate nothing.
 *
 * <p>Each message uses a receive that the peer has posted. The peer returns this credit when it has handled the message, so that
 * a message always finds a receive. Without credit, {@link #trySend} and {@link #tryClaim} refuse, and {@link
 * ConnectionListener#onDrained} follows when there is credit again.
 *
 * <p>The buffer of an open claim and retained messages stay valid after the end of the connection and of its set, until the user
 * gives them back: {@link #commit} or {@link #abort}, {@link #release}. From then on {@link #buffer()}, which is also the buffer
 * of {@link ConnectionListener#onMessage}, has a capacity of 0, and each access throws {@link IndexOutOfBoundsException}. A
 * buffer that wraps it is not emptied: it may show messages of later connections, but never freed memory.
 */
public final class MessageConnection extends ReceivingSide {
    /** Result of {@link #tryClaim}: no credit, or all buffers are in flight; {@link ConnectionListener#onDrained} follows. */
    public static final int NO_CREDIT = -1;
    /** Result of {@link #tryClaim}: the connection has ended or is ending. */
    public static final int NOT_CONNECTED = -2;

    private final MessageBuffers memory;
    private final OneSidedOperations operations;
    private final CompletableFuture<MessageConnection> established = new CompletableFuture<>();
    private final ConnectionEnd end = new ConnectionEnd();
    final Keepalive keepalive = new Keepalive(this);
    private volatile boolean connected;
    private Hello peerHello;

    /** Polling thread, as the following. */
    private boolean started;
    private boolean retired;
    private volatile boolean ended;
    private boolean disconnectRequested;
    private boolean queueFailed;

    MessageConnection(final ConnectionPoller poller, final RcConnection connection, final MessageBuffers memory,
        final MessageLayout layout, final int maxOperations, final ExpectedConnection expected,
        final ConnectionListener listener) {
        super(poller, connection, memory, layout, expected, listener);
        this.memory = memory;
        operations = new OneSidedOperations(this, maxOperations, listener);
    }

    /** Applies the peer's hello; before the connection is started. */
    void greet(final Hello own, final Hello peers) {
        peerHello = peers;
        begin(Math.min(own.window(), peers.window()), Math.min(own.maxMessageBytes(), peers.maxMessageBytes()));
    }

    /**
     * Sends a message, if there is credit.
     *
     * @param source contains the message, which is copied
     * @param offset of the message in bytes
     * @param length of the message in bytes, from 0 to {@link #maxMessageBytes()}
     * @return true if it was sent; false if there is no credit, so that {@link ConnectionListener#onDrained} follows, or the
     *     connection has ended
     * @throws IllegalArgumentException  if the message is too long
     * @throws IndexOutOfBoundsException if the message is not within the source
     * @throws IllegalStateException     if a claim is open, or before the end of the set on another thread than the polling
     *     thread
     */
    public boolean trySend(final DirectBuffer source, final int offset, final int length) {
        Objects.requireNonNull(source, "the source of the message is null").boundsCheck(offset, length);
        requireOwner();
        final int next = nextOffset(length);
        if (next < 0) {
            return false;
        }
        // The range of the source has been checked, and that of the claim is the layer's own.
        MessageCopy.copy(source.byteArray(), source.addressOffset() + offset, address + next, length);
        postMessage(length);
        return true;
    }

    /**
     * Claims a buffer in which the next message is written in place. At most one claim is open at a time; the message is sent by
     * {@link #commit}.
     *
     * @param length of the message in bytes, from 0 to {@link #maxMessageBytes()}
     * @return the index of the message in {@link #buffer()}, or {@link #NO_CREDIT} or {@link #NOT_CONNECTED}, which are negative
     * @throws IllegalArgumentException if the message is too long
     * @throws IllegalStateException    if a claim is open, or before the end of the set on another thread than the polling
     *     thread
     */
    public int tryClaim(final int length) {
        requireOwner();
        return claim(length);
    }

    /**
     * The buffer for claimed messages.
     *
     * @return always the same; write within the claimed range only. Its capacity is 0 when the connection has ended and its
     *     memory has been given back
     */
    public MutableDirectBuffer buffer() {
        return bytes;
    }

    /**
     * Sends the claimed message. If the connection has ended since the claim, the message is dropped and the memory given back;
     * after the end of the set one thread at a time may call this.
     *
     * @param index result of {@link #tryClaim}
     * @throws IllegalStateException on another thread than the polling thread, or if there is no such claim
     */
    public void commit(final int index) {
        final int length = endClaim(index);
        if (isOpen()) {
            postMessage(length);
        }
    }

    /**
     * Gives a claim back; nothing is sent. Also possible after the end of the connection and of the set, as {@link #commit}.
     *
     * @param index result of {@link #tryClaim}
     * @throws IllegalStateException on another thread than the polling thread, or if there is no such claim
     */
    public void abort(final int index) {
        endClaim(index);
    }

    private int endClaim(final int index) {
        requireOwner();
        final int length = takeClaim(index);
        if (ended) {
            giveMemoryBack();
        }
        return length;
    }

    /**
     * Writes to memory of the other side (RDMA WRITE), which gets no event: a message sent later is delivered after the data.
     * Needs no credit. {@link ConnectionListener#onOperationCompleted} follows. A failed operation ends the connection, for
     * instance because the peer has not registered its memory for it.
     *
     * @param destination       memory of the other side, from a descriptor that it has sent
     * @param destinationOffset in bytes
     * @param source            registered with the peer of the set; unchanged and open until the operation has completed
     * @param sourceOffset      in bytes
     * @param lengthBytes       1 to 2^31, and to the maximum of the device's port ({@code max_msg_sz})
     * @param tag               passed to the callback
     * @return true if it was posted; false if {@link ConnectionSetBuilder#operationsInFlight} operations are under way, or the
     *     connection has ended
     * @throws IllegalArgumentException  if the length is not possible
     * @throws IndexOutOfBoundsException if a piece is not within its region
     * @throws IllegalStateException     if a region is closed, the set has no operations, or as {@link #resume}
     */
    public boolean tryWrite(final RemoteMemoryRegion destination, final long destinationOffset, final LocalMemoryRegion source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireOwner();
        return operations.tryWrite(destination, destinationOffset, source, sourceOffset, lengthBytes, tag);
    }

    /**
     * Reads memory of the other side (RDMA READ), after all earlier writes and messages of this side; later ones may overtake it.
     * As {@link #tryWrite} in all else.
     *
     * @param destination       registered with the peer of the set; undefined and open until the operation has completed
     * @param destinationOffset in bytes
     * @param source            memory of the other side, from a descriptor that it has sent
     * @param sourceOffset      in bytes
     * @param lengthBytes       as for a write
     * @param tag               passed to the callback
     * @return as for a write
     * @throws IllegalArgumentException  as for a write
     * @throws IndexOutOfBoundsException as for a write
     * @throws IllegalStateException     as for a write
     */
    public boolean tryRead(final LocalMemoryRegion destination, final long destinationOffset, final RemoteMemoryRegion source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireOwner();
        return operations.tryRead(destination, destinationOffset, source, sourceOffset, lengthBytes, tag);
    }

    /**
     * Writes to memory of the other side over verbs, as the other {@code tryWrite} over librpma.
     *
     * @param destination       memory of the other side
     * @param destinationOffset in bytes
     * @param source            of the protection domain of the set; unchanged and open until the operation has completed
     * @param sourceOffset      in bytes
     * @param lengthBytes       as there
     * @param tag               passed to the callback
     * @return as there
     * @throws IllegalArgumentException  as there, or if the source is of another protection domain
     * @throws IndexOutOfBoundsException as there
     * @throws IllegalStateException     as there
     */
    public boolean tryWrite(final RemoteMemory destination, final long destinationOffset, final MemoryRegion source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireOwner();
        return operations.tryWrite(destination, destinationOffset, source, sourceOffset, lengthBytes, tag);
    }

    /**
     * Reads memory of the other side over verbs, as the other {@code tryRead} over librpma.
     *
     * @param destination       of the protection domain of the set; undefined and open until the operation has completed
     * @param destinationOffset in bytes
     * @param source            memory of the other side
     * @param sourceOffset      in bytes
     * @param lengthBytes       as for a write
     * @param tag               passed to the callback
     * @return as for a write
     * @throws IllegalArgumentException  as for a write, or if the destination is of another protection domain
     * @throws IndexOutOfBoundsException as for a write
     * @throws IllegalStateException     as for a write
     */
    public boolean tryRead(final MemoryRegion destination, final long destinationOffset, final RemoteMemory source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireOwner();
        return operations.tryRead(destination, destinationOffset, source, sourceOffset, lengthBytes, tag);
    }

    /** Requires the polling thread; after the end of the set any thread may return memory, and sends nothing. */
    void requireOwner() {
        if (!poller().isPollingThread() && !(ended && poller().isClosed())) {
            poller().requirePollingThread(this);
        }
    }

    /**
     * Retains the message that is being handled: it stays valid after {@link ConnectionListener#onMessage} has returned, until
     * {@link #release}. Until then its credit is not returned to the peer. Its memory remains, also after the end of the
     * connection and of the set.
     *
     * @return the handle for {@link #release}
     * @throws IllegalStateException on another thread than the polling thread, outside of {@link ConnectionListener#onMessage},
     *     or if the message is retained already
     */
    public long retain() {
        poller().requirePollingThread(this);
        return retainHandled();
    }

    /**
     * Releases a retained message: its receive is posted again. Within the callback of this message, as if it had not been
     * retained: it is valid until the callback returns, whose result counts. Also possible after the end of the connection, which
     * keeps the memory until all messages are released and the open claim is given back; after the end of the set one thread at
     * a time may call this.
     *
     * @param message result of {@link #retain()}
     * @throws IllegalStateException on another thread than the polling thread, or if the message is not retained
     */
    public void release(final long message) {
        requireOwner();
        final int buffer = endRetention(message);
        if (buffer < 0) {
            return;
        }
        if (isOpen()) {
            finish(buffer);
            onBatchEnd();
        } else if (ended) {
            giveMemoryBack();
        }
    }

    /**
     * Delivers the messages that wait since the listener has refused one; no effect if there are none, or after the end of the
     * connection.
     *
     * @throws IllegalStateException before the end of the set on another thread than the polling thread
     */
    public void resume() {
        requireOwner();
        if (!isOpen()) {
            return;
        }
        // Also between two duty cycles of an agent.
        final boolean begun = poller().beginCallbacks(this);
        try {
            deliverWaiting();
            onBatchEnd();
        } finally {
            if (begun) {
                poller().endCallbacks();
            }
        }
    }

    /**
     * Executes a task on the polling thread; any thread. Tasks of one thread are executed in order.
     *
     * @param task executed once; its exceptions are passed to the error handler of the set
     * @return false if the set is closed, its pipeline has ended, or too many tasks wait
     */
    public boolean execute(final Runnable task) {
        return poller().executeUser(Objects.requireNonNull(task, "the task is null"));
    }

    /**
     * Closes the connection; any thread. Messages that have been sent still reach the peer, if it is there; messages that are
     * received from now on are dropped. {@link ConnectionListener#onDisconnected} follows. Idempotent.
     */
    public void close() {
        requestEnd(DisconnectReason.CLOSED, "");
    }

    /**
     * Whether messages can be sent and received; any thread.
     *
     * @return a snapshot; false before {@link ConnectionListener#onConnected} and after the beginning of the end
     */
    public boolean isConnected() {
        return connected && end.reason() == null;
    }

    /**
     * Number of messages for which there is credit.
     *
     * @return messages that the peer can receive, as far as this side knows
     * @throws IllegalStateException before the end of the set on another thread than the polling thread
     */
    public int credits() {
        requireOwner();
        return ownCredits();
    }

    /**
     * Maximum length of a message, the lesser one of both sides.
     *
     * @return in bytes
     */
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /**
     * The private data that the peer has sent with its request or its answer.
     *
     * @return a copy; empty if there is none
     */
    public byte[] peerData() {
        return peerHello.userData().clone();
    }

    /**
     * Describes the end of the connection; final from {@link ConnectionListener#onDisconnected} on.
     *
     * @return for instance the status of a failed work request; empty if there is nothing to add to the reason
     */
    public String disconnectDetail() {
        return end.detail();
    }

    /** Ends the connection; any thread. The first reason counts. */
    void requestEnd(final DisconnectReason reason, final String detail) {
        final boolean isFirst = end.request(reason, detail);
        if (poller().isPollingThread()) {
            // Also if another thread was first: after a failed post, nothing more may be posted.
            shut();
        }
        if (isFirst) {
            poller().events().end(this);
        }
    }

    /** Whether the peer's hello has been applied. */
    boolean isGreeted() {
        return peerHello != null;
    }

    DisconnectReason endReason() {
        return end.reason();
    }

    /** Completes when the connection can be used, or exceptionally. */
    CompletableFuture<MessageConnection> established() {
        return established;
    }

    /** Begins to poll the established connection; polling thread. */
    void start() {
        try {
            poller().add(this);
        } catch (final RuntimeException refused) {
            retired = true;
            requestEnd(DisconnectReason.FAILED, refused.getMessage());
            poller().events().release(this);
            return;
        }
        // Closed while it was being established: the peer gets a goodbye, the listener knows nothing of it.
        if (endReason() != DisconnectReason.CLOSED) {
            begin();
        }
        deliverEarly();
    }

    private void begin() {
        open();
        started = true;
        connected = true;
        try {
            listener().onConnected(this);
        } catch (final Throwable failure) {
            poller().onListenerException(failure);
        }
        established.complete(this);
    }

    /** Posts nothing more but the goodbye of an orderly end; polling thread. */
    void stop() {
        shut();
        if (retired) {
            return;
        }
        if (end.saysGoodbye() && !queueFailed && (state & UNSENT) == 0 && sayGoodbye()) {
            return;
        }
        requestDisconnect();
        if (queueFailed) {
            retire();
        } else {
            retireIfFlushed();
        }
    }

    private boolean sayGoodbye() {
        final boolean posted = postGoodbye();
        if (posted) {
            poller().events().onGoodbye(this);
        }
        return posted;
    }

    private void requestDisconnect() {
        if (!disconnectRequested) {
            disconnectRequested = true;
            poller().events().disconnect(this);
        }
    }

    /** Handles the completions of the queue, and stops polling it; polling thread, idempotent. */
    void retireAfterLastPoll() {
        shut();
        try {
            if (!retired && !queueFailed) {
                poller().pollLast(this);
            }
        } finally {
            retire();
        }
    }

    /** Stops polling the queue; polling thread, idempotent. */
    void retire() {
        if (!retired) {
            retired = true;
            shut();
            poller().remove(this);
            poller().events().release(this);
        }
    }

    private void retireIfFlushed() {
        if (!isOpen() && postedReceives() == 0 && operations.underWay() == 0) {
            retire();
        }
    }

    /** Reports the end; the queue pair is gone. Polling thread. */
    void ended() {
        connected = false;
        poller().forget(expected());
        operations.onAbandoned(WcStatus.WR_FLUSH_ERR);
        poller().timers().removeAll(this);
        if (started) {
            try {
                listener().onDisconnected(this, end.conclude((state & WAITING) != 0));
            } catch (final Throwable failure) {
                poller().onListenerException(failure);
            }
        }
        try {
            giveMemoryBack();
        } finally {
            // Not before: if the polling thread has ended, another thread may then give memory back, too, and would twice.
            ended = true;
            poller().onEnded();
        }
    }

    private void giveMemoryBack() {
        if (!hasRetained() && !hasClaim()) {
            memory.revoke(bytes);
            poller().giveMemoryBack(memory);
        }
    }

    /** The queue has failed and is not polled any more; polling thread. */
    void onQueueFault(final int code) {
        queueFailed = true;
        final String detail = SharedQueue.describe(code);
        // The event of the disconnect that follows may have been handled before.
        end.explain(DisconnectReason.FAILED, detail);
        requestEnd(DisconnectReason.FAILED, detail);
    }

    /**
     * Handles a completion; {@link #onBatchEnd} follows. Polling thread.
     *
     * <p>From here to the post of an answer there are few levels of calls: the JIT compiler inlines a limited number.
     */
    void onCompletion(final WorkCompletion completion) {
        final long record = RecordAddress.of(completion);
        if (!ReceiveRecord.isReceiveWithImmediate(record)) {
            onOther(completion);
            return;
        }
        final int buffer = WorkRequestId.buffer(ReceiveRecord.workRequestId(record));
        final int length = ReceiveRecord.lengthBytes(record);
        final int immediate = ReceiveRecord.immediate(record);
        if (state == 0 && peers > 0 && Immediate.isMessage(immediate) &&
            Integer.compareUnsigned(length, maxMessageBytes) <= 0) {
            // A retired connection is closed, hence not here.
            onReceiveCompleted();
            onMessage(buffer, length, immediate);
            if (state != 0) {
                retireIfFlushed();
            }
        } else if (!retired) {
            onReceiveCompleted();
            if (isOpen() || end.deliversReceived()) {
                onUnusual(buffer, length, immediate);
            } else {
                end.onDropped(Immediate.kind(immediate));
            }
            retireIfFlushed();
        }
    }

    private void onOther(final WorkCompletion completion) {
        if (retired) {
            return;
        }
        final long id = completion.workRequestId();
        if (!completion.isSuccess()) {
            onFailed(id, completion.status());
        } else if (WorkRequestId.isReceive(id)) {
            onReceiveCompleted();
            onViolation("an operation without immediate data, or a write");
            retireIfFlushed();
        } else {
            onSent(id);
        }
    }

    /** Posts the receives of handled messages again, if they are many or the peer may wait for their credits. */
    void onBatchEnd() {
        if (isOpen() && isReturnDue()) {
            postPending();
            returnCredits();
        }
    }

    private void onSent(final long id) {
        onSendCompleted(id);
        if (WorkRequestId.isOther(id)) {
            onOtherSent(id);
        }
        if (isOpen()) {
            returnCredits();
            onRoom();
        }
    }

    private void onOtherSent(final long id) {
        if (WorkRequestId.isGoodbye(id)) {
            requestDisconnect();
        } else if (WorkRequestId.isOperation(id)) {
            operations.onCompleted(WcStatus.SUCCESS);
        } else {
            keepalive.onCompleted();
        }
        retireIfFlushed();
    }

    private void onFailed(final long id, final int status) {
        final boolean isReceive = WorkRequestId.isReceive(id);
        if (isReceive) {
            onReceiveCompleted();
        }
        final DisconnectReason reason = DisconnectReason.of(status, isReceive);
        final String detail = "work completion " + WcStatus.name(status);
        end.explain(reason, detail);
        if (isOpen()) {
            requestEnd(reason, detail);
        } else if (WorkRequestId.isGoodbye(id)) {
            // The peer has gone before the goodbye.
            requestDisconnect();
        }
        if (WorkRequestId.isOperation(id)) {
            operations.onCompleted(status);
        }
        retireIfFlushed();
    }

    /** Receives a message, which the connection's state and the protocol permit. */
    private void onMessage(final int buffer, final int length, final int returned) {
        peers--;
        if (returned != 0 && !addCredits(returned)) {
            return;
        }
        if ((state & WAITING) != 0 || !handle(buffer, length)) {
            addWaiting(buffer, length);
        }
        if (returned != 0 && isRefused() && isOpen()) {
            onRoom();
        }
    }

    private void onUnusual(final int buffer, final int length, final int immediate) {
        if (!Immediate.isMessage(immediate)) {
            onControl(buffer, length, immediate);
        } else if (peers <= 0) {
            onViolation("a message without credit");
        } else if (Integer.compareUnsigned(length, maxMessageBytes) > 0) {
            onViolation("a message of " + Integer.toUnsignedString(length) + " bytes, over the maximum of " + maxMessageBytes);
        } else {
            onMessage(buffer, length, immediate);
        }
    }

    private void onControl(final int buffer, final int length, final int immediate) {
        switch (Immediate.kind(immediate)) {
            case Immediate.CREDITS -> onCredits(buffer, length, Immediate.credits(immediate));
            case Immediate.GOODBYE -> {
                end.onGoodbye();
                requestEnd(DisconnectReason.PEER_CLOSED, "");
            }
            default -> onViolation("immediate data 0x" + Integer.toHexString(immediate));
        }
    }

    private void onCredits(final int buffer, final int length, final int returned) {
        if (length != 0 || returned == 0) {
            onViolation("a credit message of " + length + " bytes with " + returned + " credits");
            return;
        }
        // First the receive: the credits permit the peer's own messages only.
        repost(buffer);
        if (addCredits(returned) && isOpen()) {
            onRoom();
        }
    }

    /** There may be room for a message: delivers waiting messages, then reports room that is left. */
    private void onRoom() {
        if (takeRefusal()) {
            deliverWaiting();
            if (!isRefused() && isOpen() && hasRoomLeft()) {
                try {
                    listener().onDrained(this);
                } catch (final Throwable failure) {
                    poller().onListenerException(failure);
                }
            }
        }
    }

    @Override
    long progress() {
        return 31 * super.progress() + operations.progress();
    }

    @Override
    void onViolation(final String detail) {
        // Of the peer's disconnect the event may have come first: messages behind this one are not delivered.
        end.explain(DisconnectReason.PROTOCOL_VIOLATION, detail);
        requestEnd(DisconnectReason.PROTOCOL_VIOLATION, detail);
    }

    @Override
    void fail(final String detail) {
        requestEnd(DisconnectReason.FAILED, detail);
    }
}
