package io.ringpoll.rpma;

import static io.ringpoll.rpma.Posts.addressOf;
import static io.ringpoll.rpma.Posts.checkPost;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.os.FileDescriptors;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.PostingThreads;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A reliable connection to another node: posts work requests, which complete in its completion queues.
 *
 * <p>Any thread may post, poll, wait and {@link #close}, also concurrently. Posts to the send queue and posts to the receive
 * queue do not wait for each other. Posts of several threads to the same queue are serialised in an unspecified order: fast if
 * one thread posts, at the cost of a handshake with all threads if another one takes over, and by a spin lock if they alternate
 * often. A post allocates nothing and returns false if the queue has no room, or the completion queue may have none for its
 * completion ({@link io.ringpoll.completion.CompletionBudget}); posted requests complete in the order they were posted.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man7/librpma.7.html">librpma(7)</a>
 * @see <a href="https://github.com/pmem/rpma/blob/main/THREAD_SAFETY.md">THREAD_SAFETY.md of librpma</a>
 */
public final class Connection extends RpmaObject {
    static final int ATOMIC_WRITE_BYTES = 8;
    static final int WAIT_FOR_COMPLETION = 1;
    private static final int CACHE_LINE_BYTES = 64;

    static {
        MessagePosts.register(Connection.class, LocalMemoryRegion.class, LeasedSends::new, LeasedReceives::new);
    }

    /** Calls that post to the send queue. */
    private final HotCalls sends;
    /** Calls that post to the receive queue. */
    private final HotCalls receives;
    /** Null unless they are checked, as is the next field. */
    private final PostingThreads senders;
    private final PostingThreads receivers;
    private final UnsafeBuffer atomicValue;
    private final int queuePairNumber;
    private final int eventFd;
    private final RpmaCompletionQueue completionQueue;
    private final Optional<RpmaCompletionQueue> some;
    private final Optional<RpmaCompletionQueue> receiveSome;
    /** Where receives complete. */
    private final RpmaCompletionQueue receiveQueue;
    /** Where the receives of the shared receive queue complete, if it has a receive CQ. */
    private final Optional<RpmaCompletionQueue> sharedReceives;
    /** Made once: a poll for an event allocates nothing. */
    private final LongFunction<Optional<ConnectionEvent>> eventTake = this::takeEvent;
    private volatile boolean established;
    private volatile boolean disconnected;
    /** Written by the thread that closes. */
    private boolean handingOver;

    Connection(final Peer peer, final SharedReceiveQueue sharedQueue, final long address, final int receivesPosted) {
        super("connection " + Integer.toUnsignedString(ConnectionCalls.queuePairNumber(address)), address);
        queuePairNumber = ConnectionCalls.queuePairNumber(address);
        senders = PostingThreads.of("send queue of " + name());
        receivers = PostingThreads.of("receive queue of " + name());
        atomicValue = new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
        final CallState state = CallState.current();
        Librpma.CONNECTION.rpma_conn_get_event_fd(address, state.scratch());
        eventFd = state.intAt(0);
        FileDescriptors.setNonBlocking(eventFd);
        Librpma.CONNECTION.rpma_conn_get_cq(address, state.scratch());
        completionQueue = RpmaCompletionQueue.of(name() + " main CQ", state.longAt(0), this);
        some = Optional.of(completionQueue);
        receiveSome = openReceiveQueue(address);
        receiveQueue = receiveSome.orElse(completionQueue);
        for (int i = 0; i < receivesPosted && receiveQueue.budget() != null; i++) {
            receiveQueue.budget().onReceivePosted();
        }
        sends = HotCalls.register(Connection.class);
        // With one completion queue for both they share its budget.
        receives = receiveSome.isPresent() ? HotCalls.register(Connection.class) : sends.registerPartner();
        sharedReceives = sharedQueue == null ? Optional.empty() : sharedQueue.receiveCompletionQueue();
        if (sharedQueue != null && sharedReceives.isEmpty() && receiveQueue.budget() != null) {
            receiveQueue.budget().classify();
        }
        dependsOn(peer);
        if (sharedQueue != null) {
            dependsOn(sharedQueue);
        }
    }

    /** Opens the receive CQ, if there is one; the main CQ, which is open already, is given up if that fails. */
    private Optional<RpmaCompletionQueue> openReceiveQueue(final long connection) {
        final CallState state = CallState.current();
        Librpma.CONNECTION.rpma_conn_get_rcq(connection, state.scratch());
        final long receiveAddress = state.longAt(0);
        if (receiveAddress == 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(RpmaCompletionQueue.of(name() + " receive CQ", receiveAddress, this));
        } catch (final RuntimeException | Error failure) {
            completionQueue.discard();
            throw failure;
        }
    }

    /**
     * The number of the local queue pair, which work completions carry.
     *
     * @return the number, unsigned
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_get_qp_num.3.html">rpma_conn_get_qp_num(3)</a>
     */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /**
     * The main completion queue. Without a receive queue of its own, receives complete here too.
     *
     * @return the same at each call; ends with the connection
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_get_cq.3.html">rpma_conn_get_cq(3)</a>
     */
    public RpmaCompletionQueue completionQueue() {
        return completionQueue;
    }

    /**
     * The receive completion queue, if {@link ConnectionConfig#rcqSize(int)} asked for one. Then receives never complete in the
     * main queue, so both are to be polled.
     *
     * @return the same at each call; ends with the connection
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_get_rcq.3.html">rpma_conn_get_rcq(3)</a>
     */
    public Optional<RpmaCompletionQueue> receiveCompletionQueue() {
        return receiveSome;
    }

    /**
     * Whether an asynchronous event is about this connection's queue pair or one of its completion queues.
     *
     * @param event of the same device
     * @return true if it is
     */
    public boolean isSubjectOf(final AsyncEvent event) {
        // Other events have number 0, which is that of no connection.
        return event.queuePairNumber() != 0 && event.queuePairNumber() == queuePairNumber ||
            completionQueue.isSubjectOf(event) || receiveSome.isPresent() && receiveSome.get().isSubjectOf(event);
    }

    /**
     * The descriptor that is readable when something became of the connection; for epoll(7) and the like. It does not block and
     * is to stay so.
     *
     * @return the descriptor, valid until this is closed
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_get_event_fd.3.html">rpma_conn_get_event_fd(3)</a>
     */
    public int eventFd() {
        return eventFd;
    }

    /** Whether a wait for events has returned {@link ConnectionEvent#ESTABLISHED}. */
    boolean isEstablished() {
        return established;
    }

    /**
     * Waits for the next event of the connection.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the event, or empty if there was none in time
     * @throws IllegalStateException    if this is closed, now or while it waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws RpmaException            {@code RPMA_E_UNKNOWN} for an event that librpma does not know, or as in
     *     rpma_conn_next_event(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_next_event.3.html">rpma_conn_next_event(3)</a>
     */
    public Optional<ConnectionEvent> nextEvent(final int timeoutMs) {
        return awaitNext(eventFd, timeoutMs, eventTake);
    }

    private Optional<ConnectionEvent> takeEvent(final long connection) {
        final CallState state = CallState.current();
        LogSink.clearError();
        final int result = Librpma.CONNECTION.rpma_conn_next_event(connection, state.scratch());
        if (Endpoint.isNoEvent(result)) {
            return Optional.empty();
        }
        RpmaException.check("rpma_conn_next_event", result);
        final ConnectionEvent event = ConnectionEvent.of(state.intAt(0));
        established |= event == ConnectionEvent.ESTABLISHED;
        return Optional.of(event);
    }

    /**
     * The private data of the other side's request or reply.
     *
     * @return a new array; empty if there is none, or before {@link ConnectionEvent#ESTABLISHED}
     * @throws RpmaException as in rpma_conn_get_private_data(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_get_private_data.3.html">
     *     rpma_conn_get_private_data(3)</a>
     */
    public byte[] privateData() {
        final long connection = enter();
        try {
            final CallState state = CallState.current();
            RpmaException.check("rpma_conn_get_private_data",
                Librpma.CONNECTION.rpma_conn_get_private_data(connection, state.scratch()));
            return ConnectionRequest.privateData(state);
        } finally {
            exit();
        }
    }

    /**
     * Applies the configuration of the other side; required before {@link FlushType#PERSISTENT}.
     *
     * @param config of the other side
     * @throws RpmaException as in rpma_conn_apply_remote_peer_cfg(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_apply_remote_peer_cfg.3.html">
     *     rpma_conn_apply_remote_peer_cfg(3)</a>
     */
    public void applyRemotePeerConfig(final PeerConfig config) {
        final long connection = enter();
        try {
            final long configAddress = config.enterForApply();
            try {
                RpmaException.check("rpma_conn_apply_remote_peer_cfg",
                    Librpma.CONNECTION.rpma_conn_apply_remote_peer_cfg(connection, configAddress));
            } finally {
                config.exitFromApply();
            }
        } finally {
            exit();
        }
    }

    /**
     * Disconnects: outstanding requests complete with flush errors, and both sides get {@link ConnectionEvent#CLOSED}. Post no
     * receive later, nor meanwhile: Soft-RoCE accepts it and never completes it.
     *
     * @throws RpmaException as in rpma_conn_disconnect(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_disconnect.3.html">rpma_conn_disconnect(3)</a>
     */
    public void disconnect() {
        final long connection = enter();
        try {
            LogSink.clearError();
            RpmaException.check("rpma_conn_disconnect", Librpma.CONNECTION.rpma_conn_disconnect(connection));
            disconnected = true;
        } finally {
            exit();
        }
    }

    /**
     * The descriptor of the completion channel that both queues share, readable when there is an event. It is non-blocking and
     * must stay so.
     *
     * @return the descriptor, valid until this is closed
     * @throws RpmaException {@code RPMA_E_NOT_SHARED_CHNL} if each queue has its own
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_get_compl_fd.3.html">rpma_conn_get_compl_fd(3)</a>
     */
    public int completionFd() {
        final long connection = enter();
        try {
            return ConnectionCalls.completionFd(connection);
        } finally {
            exit();
        }
    }

    /**
     * Waits for an event of either completion queue on their shared channel, acknowledges it and requests the queue's next one.
     * Poll that queue until it is empty before the next wait; it may be empty already.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the queue that the event belongs to, or empty if there was none in time
     * @throws IllegalStateException    if this is closed, now or while it waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws RpmaException            {@code RPMA_E_NOT_SHARED_CHNL} if each queue has its own channel, or as in
     *     rpma_conn_wait(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_wait.3.html">rpma_conn_wait(3)</a>
     */
    public Optional<RpmaCompletionQueue> awaitCompletions(final int timeoutMs) {
        final long connection = enter();
        try {
            final int fd = ConnectionCalls.completionFd(connection);
            final CallState state = CallState.current();
            final long startNs = System.nanoTime();
            int remainingMs = timeoutMs;
            while (awaitReadable(fd, remainingMs)) {
                final long pointers = state.scratch();
                final int result = Librpma.COMPLETION.rpma_conn_wait(connection, WAIT_FOR_COMPLETION, pointers,
                    pointers + Long.BYTES);
                if (result == RpmaError.SUCCESS) {
                    return state.byteAt(Long.BYTES) != 0 ? receiveSome : some;
                }
                if (result != RpmaError.NO_COMPLETION) {
                    throw RpmaException.withoutErrno("rpma_conn_wait", result);
                }
                LogSink.clearError();
                if (remainingMs == 0) {
                    return Optional.empty();
                }
                remainingMs = Deadline.remainingMs(timeoutMs, startNs);
            }
            return Optional.empty();
        } finally {
            exit();
        }
    }

    /**
     * Posts a read of the other side's memory.
     *
     * @param destination       the target of the data, registered for {@link MemoryUsage#READ_DESTINATION}; null with a null
     *                          source for a read of nothing
     * @param destinationOffset in bytes
     * @param source            memory of the other side, registered there for {@link MemoryUsage#READ_SOURCE}
     * @param sourceOffset      in bytes
     * @param lengthBytes       number of bytes
     * @param flag              when it generates a completion
     * @param workRequestId     is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if a piece is not within its region
     * @throws IllegalStateException     if the connection or a region is closed
     * @throws RpmaException             as in rpma_read(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_read.3.html">rpma_read(3)</a>
     */
    @HotCall
    public boolean read(final LocalMemoryRegion destination, final long destinationOffset, final RemoteMemoryRegion source,
        final long sourceOffset, final long lengthBytes, final CompletionFlag flag, final long workRequestId) {
        checkPost(lengthBytes, flag);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long connection = openAddress();
            final long to = addressOf(destination, destinationOffset, lengthBytes);
            final long from = addressOf(source, sourceOffset, lengthBytes);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_read(mark.turn(), connection, to, destinationOffset, from, sourceOffset, lengthBytes,
                flag.value(), workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted("rpma_read", result, this);
    }

    /**
     * Posts a write to the other side's memory.
     *
     * @param destination       memory of the other side, registered there for {@link MemoryUsage#WRITE_DESTINATION}
     * @param destinationOffset in bytes
     * @param source            the data, registered for {@link MemoryUsage#WRITE_SOURCE}; null with a null destination for a
     *                          write of nothing
     * @param sourceOffset      in bytes
     * @param lengthBytes       number of bytes
     * @param flag              when it generates a completion
     * @param workRequestId     is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if a piece is not within its region
     * @throws IllegalStateException     if the connection or a region is closed
     * @throws RpmaException             as in rpma_write(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_write.3.html">rpma_write(3)</a>
     */
    @HotCall
    public boolean write(final RemoteMemoryRegion destination, final long destinationOffset, final LocalMemoryRegion source,
        final long sourceOffset, final long lengthBytes, final CompletionFlag flag, final long workRequestId) {
        checkPost(lengthBytes, flag);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long connection = openAddress();
            final long to = addressOf(destination, destinationOffset, lengthBytes);
            final long from = addressOf(source, sourceOffset, lengthBytes);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_write(mark.turn(), connection, to, destinationOffset, from, sourceOffset, lengthBytes,
                flag.value(), workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted("rpma_write", result, this);
    }

    /**
     * Posts a write to the other side's memory that also consumes a receive there and completes it with 32 bits of data.
     *
     * @param destination       memory of the other side, registered there for {@link MemoryUsage#WRITE_DESTINATION}
     * @param destinationOffset in bytes
     * @param source            the data, registered for {@link MemoryUsage#WRITE_SOURCE}; null with a null destination for a
     *                          write of nothing
     * @param sourceOffset      in bytes
     * @param lengthBytes       number of bytes
     * @param flag              when it generates a completion
     * @param immediate         the 32 bits, in host byte order
     * @param workRequestId     is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if a piece is not within its region
     * @throws IllegalStateException     if the connection or a region is closed
     * @throws RpmaException             as in rpma_write_with_imm(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_write_with_imm.3.html">rpma_write_with_imm(3)</a>
     */
    @HotCall
    public boolean writeWithImmediate(final RemoteMemoryRegion destination, final long destinationOffset,
        final LocalMemoryRegion source, final long sourceOffset, final long lengthBytes, final CompletionFlag flag,
        final int immediate, final long workRequestId) {
        checkPost(lengthBytes, flag);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long connection = openAddress();
            final long to = addressOf(destination, destinationOffset, lengthBytes);
            final long from = addressOf(source, sourceOffset, lengthBytes);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_write_with_imm(mark.turn(), connection, to, destinationOffset, from, sourceOffset,
                lengthBytes, flag.value(), immediate, workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted("rpma_write_with_imm", result, this);
    }

    /**
     * Posts an atomic write of 8 bytes, ordered after all reads and flushes posted before.
     *
     * @param destination       memory of the other side, registered there for {@link MemoryUsage#WRITE_DESTINATION}
     * @param destinationOffset in bytes, a multiple of 8
     * @param value             the 8 bytes, in native byte order
     * @param flag              when it generates a completion
     * @param workRequestId     is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalStateException     if the connection or the region is closed
     * @throws RpmaException             {@code RPMA_E_INVAL} if the offset is not aligned, or as in rpma_atomic_write(3), except
     *     for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_atomic_write.3.html">rpma_atomic_write(3)</a>
     */
    @HotCall
    public boolean atomicWrite(final RemoteMemoryRegion destination, final long destinationOffset, final long value,
        final CompletionFlag flag, final long workRequestId) {
        Objects.requireNonNull(destination, "the destination of an atomic write is null");
        checkPost(ATOMIC_WRITE_BYTES, flag);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long connection = openAddress();
            final long to = destination.addressFor(destinationOffset, ATOMIC_WRITE_BYTES);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            // librpma posts the value inline: the provider has copied it when the call returns.
            atomicValue.putLong(0, value);
            result = Librpma.POSTING.rpma_atomic_write(mark.turn(), connection, to, destinationOffset,
                atomicValue.addressOffset(), flag.value(), workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted(Posts.ATOMIC_WRITE, result, this);
    }

    /**
     * Posts a flush: it completes when the writes posted before it have reached the other side's memory. It completes as a read.
     *
     * @param destination       memory of the other side, registered there for this type of flush
     * @param destinationOffset in bytes
     * @param lengthBytes       number of bytes
     * @param type              visibility or persistence
     * @param flag              when it generates a completion
     * @param workRequestId     is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalStateException     if the connection or the region is closed
     * @throws RpmaException             {@code RPMA_E_NOSUPP} if region or peer do not support the type, or as in rpma_flush(3),
     *     except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_flush.3.html">rpma_flush(3)</a>
     */
    @HotCall
    public boolean flush(final RemoteMemoryRegion destination, final long destinationOffset, final long lengthBytes,
        final FlushType type, final CompletionFlag flag, final long workRequestId) {
        Objects.requireNonNull(destination, "the destination of a flush is null");
        Objects.requireNonNull(type, "the type of a flush is null");
        Objects.requireNonNull(flag, Posts.NO_FLAG);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long connection = openAddress();
            final long to = destination.addressFor(destinationOffset, lengthBytes);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_flush(mark.turn(), connection, to, destinationOffset, lengthBytes, type.value(),
                flag.value(), workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted("rpma_flush", result, this);
    }

    /**
     * Posts a message, which consumes a receive of the other side.
     *
     * @param source        the message, registered for {@link MemoryUsage#SEND}; null for an empty message
     * @param offset        in bytes
     * @param lengthBytes   of the message
     * @param flag          when it generates a completion
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalStateException     if the connection or the region is closed
     * @throws RpmaException             as in rpma_send(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_send.3.html">rpma_send(3)</a>
     */
    @HotCall
    public boolean send(final LocalMemoryRegion source, final long offset, final long lengthBytes, final CompletionFlag flag,
        final long workRequestId) {
        checkPost(lengthBytes, flag);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long connection = openAddress();
            final long from = addressOf(source, offset, lengthBytes);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_send(mark.turn(), connection, from, offset, lengthBytes, flag.value(), workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted("rpma_send", result, this);
    }

    /**
     * Posts a message with 32 bits of data that the receive's completion carries.
     *
     * @param source        the message, registered for {@link MemoryUsage#SEND}; null for an empty message
     * @param offset        in bytes
     * @param lengthBytes   of the message
     * @param flag          when it generates a completion
     * @param immediate     the 32 bits, in host byte order
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of the main CQ is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalStateException     if the connection or the region is closed
     * @throws RpmaException             as in rpma_send_with_imm(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_send_with_imm.3.html">rpma_send_with_imm(3)</a>
     */
    public boolean sendWithImmediate(final LocalMemoryRegion source, final long offset, final long lengthBytes,
        final CompletionFlag flag, final int immediate, final long workRequestId) {
        return sendWithImmediate(null, source, offset, lengthBytes, flag, immediate, workRequestId);
    }

    /** As the public one; leases later posts to the calling thread, if no other thread makes them. The lease may be null. */
    @HotCall
    boolean sendWithImmediate(final HotLease lease, final LocalMemoryRegion source, final long offset, final long lengthBytes,
        final CompletionFlag flag, final int immediate, final long workRequestId) {
        checkPost(lengthBytes, flag);
        final HotMark mark = sends.enter();
        int result = Posts.NOT_RESERVED;
        try {
            Posts.lease(sends, lease);
            final long connection = openAddress();
            final long from = addressOf(source, offset, lengthBytes);
            if (!Posts.reserveSend(senders, completionQueue.budget(), sends, flag)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_send_with_imm(mark.turn(), connection, from, offset, lengthBytes, flag.value(),
                immediate, workRequestId);
        } finally {
            Posts.endSend(completionQueue.budget(), mark, flag, result);
        }
        return Posts.isAccepted("rpma_send_with_imm", result, this);
    }

    /**
     * Posts a receive for a message of the other side. It always generates a completion.
     *
     * @param destination   the target of the message, registered for {@link MemoryUsage#RECEIVE}; null for an empty message
     * @param offset        in bytes
     * @param lengthBytes   capacity for the message
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the receive queue or the budget of its CQ is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalStateException     if the connection or the region is closed
     * @throws RpmaException             as in rpma_recv(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_recv.3.html">rpma_recv(3)</a>
     */
    public boolean receive(final LocalMemoryRegion destination, final long offset, final long lengthBytes,
        final long workRequestId) {
        return receive(destination, offset, lengthBytes, workRequestId, 1) == 1;
    }

    /**
     * Posts receives into consecutive pieces of a region, in order, at less cost than a call for each.
     *
     * @param destination   the target of the messages, registered for {@link MemoryUsage#RECEIVE}; null for empty messages
     * @param offset        of the first piece in bytes
     * @param lengthBytes   of each piece
     * @param workRequestId of the first receive; those of the next ones follow by 1
     * @param count         number of pieces, 0 or more
     * @return number of accepted receives, from the first; fewer if the receive queue or the budget of its CQ is full
     * @throws IndexOutOfBoundsException if the pieces are not within the region
     * @throws IllegalStateException     if the connection or the region is closed
     * @throws RpmaException             as in rpma_recv(3), except for a full queue; the receives before are posted
     */
    public int receive(final LocalMemoryRegion destination, final long offset, final long lengthBytes, final long workRequestId,
        final int count) {
        return receive(null, destination, offset, lengthBytes, workRequestId, count);
    }

    /** As the public one; leases later posts to the calling thread, if no other thread makes them. The lease may be null. */
    @HotCall
    int receive(final HotLease lease, final LocalMemoryRegion destination, final long offset, final long lengthBytes,
        final long workRequestId, final int count) {
        Posts.checkReceives(lengthBytes, count);
        final HotMark mark = receives.enter();
        int accepted = 0;
        int result = Posts.NOT_RESERVED;
        try {
            Posts.lease(receives, lease);
            final long connection = openAddress();
            final long to = addressOf(destination, offset, count * lengthBytes);
            for (; accepted < count && Posts.reserveReceive(receivers, receiveQueue.budget(), receives); accepted++) {
                result = Posts.RESERVED;
                // Each call has a turn of its own, so that a long series contains plain calls, too.
                result = Librpma.POSTING.rpma_recv(mark.turn() + accepted, connection, to, offset + accepted * lengthBytes,
                    lengthBytes, workRequestId + accepted);
                if (result != RpmaError.SUCCESS) {
                    break;
                }
            }
        } finally {
            Posts.endReceive(receiveQueue.budget(), mark, result);
        }
        return Posts.accepted("rpma_recv", result, accepted);
    }

    /** The address for leased posts that complete in a queue: they reserve no completions and check no threads; 0 if one must. */
    long leasable(final LocalMemoryRegion region, final RpmaCompletionQueue queue) {
        return PostingThreads.CHECKED || queue.budget() != null || region.isClosed() ? 0 : addressOrZero();
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected void endParts() {
        completionQueue.endWithOwner();
        receiveSome.ifPresent(RpmaCompletionQueue::endWithOwner);
        if (!handingOver) {
            handingOver = true;
            sharedReceives.ifPresent(RpmaCompletionQueue::beginHandover);
        }
    }

    @Override
    protected void destroy(final long lastAddress) {
        try {
            sharedReceives.ifPresent(queue -> handOver(queue, lastAddress));
            RpmaException.check("rpma_conn_delete", ConnectionCalls.delete(lastAddress));
        } finally {
            sends.discard();
            receives.discard();
            completionQueue.discard();
            receiveSome.ifPresent(RpmaCompletionQueue::discard);
        }
    }

    /** Keeps the completions in a queue that outlives the connection: some devices remove those of a destroyed queue pair. */
    private void handOver(final RpmaCompletionQueue queue, final long connection) {
        if (!disconnected) {
            // Moves the queue pair to the error state, connected or not, so that no more messages arrive.
            Librpma.CONNECTION.rpma_conn_disconnect(connection);
            LogSink.clearError();
        }
        queue.completeHandover();
    }
}
