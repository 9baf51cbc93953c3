package io.ringpoll.verbs;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Parents;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.PostingThreads;
import io.ringpoll.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * A reliable-connected queue pair: takes lists of prepared requests, which complete in its completion queues.
 *
 * <p>Any thread may post and close. Posts to the send queue and posts to the receive queue do not wait for each other. Posts of
 * several threads to the same queue are made one after the other, in an unspecified order; each thread posts lists of its own. A
 * post allocates nothing, and accepts fewer requests than asked for if the queue has no room, or the completion queue may have
 * none for their completions ({@link CompletionBudget}). Accepted requests complete in the order they were posted; on Soft-RoCE
 * not a receive that is posted after {@link ConnectionId#disconnect}, whose memory is free when this is closed.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_qp.3.html">ibv_create_qp(3)</a>
 */
public final class QueuePair extends NativeResource {
    /** Instead of the errno value of a single request that is not counted yet. */
    private static final int NOT_RESERVED = Integer.MIN_VALUE;
    /** The same, after it was counted and before it was posted. */
    private static final int RESERVED = NOT_RESERVED + 1;

    static {
        MessagePosts.register(QueuePair.class, MemoryRegion.class, LeasedSends::new, LeasedReceives::new);
    }

    private final ConnectionId id;
    private final ProtectionDomain domain;
    private final VerbsCompletionQueue sendQueue;
    private final VerbsCompletionQueue receiveQueue;
    private final SharedReceiveQueue sharedReceives;
    private final int number;
    private final int maxSendRequests;
    private final int maxReceiveRequests;
    private final int maxSendElements;
    private final int maxReceiveElements;
    private final int maxInlineBytes;
    /** The domain of memory that single requests take, or null if they take none. */
    private final ProtectionDomain sendDomain;
    private final ProtectionDomain receiveDomain;
    private final boolean signalAll;
    private final QueueBudgets budgets;
    private final MemorySegment sendFunction;
    private final MemorySegment receiveFunction;
    /** Calls that post to the send queue. */
    private final HotCalls sends;
    /** Calls that post to the receive queue. */
    private final HotCalls receives;
    /** Null unless they are checked, as is the next field. */
    private final PostingThreads senders = PostingThreads.of("send queue of " + name());
    private final PostingThreads receivers = PostingThreads.of("receive queue of " + name());
    private final SingleRequest singleSend = new SingleRequest();
    private final SingleRequest singleReceive = new SingleRequest();
    /** Null if none is kept, as is the next field. */
    private final CompletionBudget sendBudget;
    private final CompletionBudget receiveBudget;

    private QueuePair(final ConnectionId id, final ProtectionDomain domain, final long address, final MemorySegment granted,
        final QueuePairAttributes attributes) {
        super("queue pair " + Integer.toUnsignedString(Memory.intAt(address + IbvWr.QP_NUM_OFFSET)), address);
        this.id = id;
        this.domain = domain;
        sendQueue = attributes.sendQueue();
        receiveQueue = attributes.receiveQueue();
        sharedReceives = attributes.sharedReceiveQueue();
        number = Memory.intAt(address + IbvWr.QP_NUM_OFFSET);
        maxSendRequests = granted.get(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_SEND_WR_OFFSET);
        maxReceiveRequests = granted.get(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_RECV_WR_OFFSET);
        maxSendElements = granted.get(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_SEND_SGE_OFFSET);
        maxReceiveElements = granted.get(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_RECV_SGE_OFFSET);
        maxInlineBytes = granted.get(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_INLINE_DATA_OFFSET);
        sendDomain = maxSendElements == 0 ? null : domain;
        receiveDomain = maxReceiveElements == 0 ? null : domain;
        signalAll = attributes.signalAll();
        sendFunction = PostFunctions.sendOf(address);
        receiveFunction = PostFunctions.receiveOf(address);
        budgets = QueueBudgets.open(attributes);
        sendBudget = budgets.ofSends();
        receiveBudget = budgets.ofReceives();
        sends = HotCalls.register(QueuePair.class);
        // With one completion queue for both they share its budget.
        receives = sendQueue == receiveQueue ? sends.registerPartner() : HotCalls.register(QueuePair.class);
    }

    /** Creates the queue pair of an id, which the caller has entered; so the id's state cannot change. */
    static QueuePair create(
        final ConnectionId id, final long idAddress, final ProtectionDomain domain, final QueuePairAttributes attributes) {
        final VerbsCompletionQueue sendQueue = attributes.sendQueue();
        final VerbsCompletionQueue receiveQueue = attributes.receiveQueue();
        final long pd = Parents.enter(domain);
        try {
            final long sendCq = Parents.enter(sendQueue);
            try {
                final long receiveCq = Parents.enter(receiveQueue);
                try {
                    final long srq = SharedReceiveQueue.enter(attributes.sharedReceiveQueue());
                    try {
                        return create(id, idAddress, domain, attributes, pd, sendCq, receiveCq, srq);
                    } finally {
                        SharedReceiveQueue.exit(attributes.sharedReceiveQueue());
                    }
                } finally {
                    Parents.exit(receiveQueue);
                }
            } finally {
                Parents.exit(sendQueue);
            }
        } finally {
            Parents.exit(domain);
        }
    }

    private static QueuePair create(final ConnectionId id, final long idAddress, final ProtectionDomain domain,
        final QueuePairAttributes attributes, final long pd, final long sendCq, final long receiveCq, final long srq) {
        final long context = Memory.longAt(idAddress + RdmaCm.ID_VERBS_OFFSET);
        requireDevice(domain.name(), pd, context, id);
        requireDevice(attributes.sendQueue().name(), sendCq, context, id);
        requireDevice(attributes.receiveQueue().name(), receiveCq, context, id);
        if (srq != 0) {
            requireDevice(attributes.sharedReceiveQueue().name(), srq, context, id);
        }
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment struct = arena.allocate(IbvQpInitAttr.SIZE_BYTES, Long.BYTES);
            struct.set(ValueLayout.JAVA_LONG, IbvQpInitAttr.SEND_CQ_OFFSET, sendCq);
            struct.set(ValueLayout.JAVA_LONG, IbvQpInitAttr.RECV_CQ_OFFSET, receiveCq);
            struct.set(ValueLayout.JAVA_LONG, IbvQpInitAttr.SRQ_OFFSET, srq);
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_SEND_WR_OFFSET, attributes.maxSendRequests());
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_RECV_WR_OFFSET, srq == 0 ? attributes.maxReceiveRequests() : 0);
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_SEND_SGE_OFFSET, attributes.maxSendElements());
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_RECV_SGE_OFFSET, srq == 0 ? attributes.maxReceiveElements() : 0);
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_INLINE_DATA_OFFSET, attributes.maxInlineBytes());
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.QP_TYPE_OFFSET, IbvQpInitAttr.QPT_RC);
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.SQ_SIG_ALL_OFFSET, attributes.signalAll() ? 1 : 0);
            if (ConnectionFunctions.rdma_create_qp(idAddress, pd, struct.address()) != 0) {
                final int errno = CallState.current().errno();
                throw new VerbsException("rdma_create_qp", errno, remedy(id.context(), attributes));
            }
            QueuePair created = null;
            try {
                created = new QueuePair(id, domain, Memory.longAt(idAddress + RdmaCm.ID_QP_OFFSET), struct, attributes);
                created.dependsOn(id);
                created.dependsOn(domain);
                created.dependsOn(attributes.sendQueue());
                created.dependsOn(attributes.receiveQueue());
                if (srq != 0) {
                    created.dependsOn(attributes.sharedReceiveQueue());
                }
                return created;
            } catch (final RuntimeException | Error failure) {
                if (created != null) {
                    created.budgets.close();
                }
                ConnectionFunctions.rdma_destroy_qp(idAddress);
                throw failure;
            }
        }
    }

    private static void requireDevice(final String name, final long part, final long context, final ConnectionId id) {
        if (Memory.longAt(part + IbvWr.CONTEXT_OFFSET) != context) {
            throw new IllegalArgumentException(
                name + " is of another device than " + id.name() + ": create it with the id's context()");
        }
    }

    private static String remedy(final VerbsContext context, final QueuePairAttributes attributes) {
        final int asked = Math.max(attributes.maxSendRequests(), attributes.maxReceiveRequests());
        return DeviceAttributes.of(context).filter(device -> asked > device.maxQpWr())
            .map(device -> context.name() + " allows " + device.maxQpWr() + " requests in a queue, not " + asked)
            .orElse("the device may not allow so many requests, elements or inline bytes");
    }

    /**
     * The number of the queue pair, which work completions carry.
     *
     * @return the number, unsigned
     */
    public int number() {
        return number;
    }

    /**
     * The granted depth of the send queue.
     *
     * @return requests, at least as many as were asked for
     */
    public int maxSendRequests() {
        return maxSendRequests;
    }

    /**
     * The granted depth of the receive queue.
     *
     * @return receives, at least as many as were asked for; unspecified with a shared receive queue
     */
    public int maxReceiveRequests() {
        return maxReceiveRequests;
    }

    /**
     * The granted number of elements of a request to the send queue.
     *
     * @return at least as many as were asked for
     */
    public int maxSendElements() {
        return maxSendElements;
    }

    /**
     * The granted number of elements of a receive.
     *
     * @return at least as many as were asked for; unspecified with a shared receive queue
     */
    public int maxReceiveElements() {
        return maxReceiveElements;
    }

    /**
     * The granted length of an inline message.
     *
     * @return bytes, at least as many as were asked for
     */
    public int maxInlineBytes() {
        return maxInlineBytes;
    }

    /**
     * The queue where requests to the send queue complete.
     *
     * @return the same at each call
     */
    public VerbsCompletionQueue sendQueue() {
        return sendQueue;
    }

    /**
     * The queue where receives complete.
     *
     * @return the same at each call; maybe that of sends
     */
    public VerbsCompletionQueue receiveQueue() {
        return receiveQueue;
    }

    /** Whether its receives come from a shared receive queue. */
    boolean hasSharedReceives() {
        return sharedReceives != null;
    }

    /**
     * Whether an asynchronous event is about this queue pair.
     *
     * @param event of the same device
     * @return true if it is
     */
    public boolean isSubjectOf(final AsyncEvent event) {
        // Other events have number 0, which is that of no connection.
        return event.queuePairNumber() != 0 && event.queuePairNumber() == number;
    }

    /**
     * Posts all requests of a list to the send queue, in order.
     *
     * @param list the requests, each prepared
     * @return number of accepted requests, from the first; fewer if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if a request is longer than its remote memory from its offset on
     * @throws IllegalArgumentException  if a request has more elements or inline bytes than this queue pair allows, has memory of
     *     another protection domain, or is atomic at a remote address that is not a multiple of 8
     * @throws IllegalStateException     if this or the list is closed, a request is not prepared, or another thread posts the
     *     list
     * @throws PostException             if the device refuses a request for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    public int postSend(final SendList list) {
        Objects.requireNonNull(list, "the list is null");
        return postSend(list, 0, list.capacity());
    }

    /**
     * Posts requests of a list to the send queue, in order.
     *
     * @param list  the requests, each prepared
     * @param first index of the first one to post
     * @param count number of requests, 0 or more
     * @return number of accepted requests, from the first; fewer if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if the requests are not within the list, or one is longer than its remote memory from its
     *     offset on
     * @throws IllegalArgumentException  if a request has more elements or inline bytes than this queue pair allows, has memory of
     *     another protection domain, or is atomic at a remote address that is not a multiple of 8
     * @throws IllegalStateException     if this or the list is closed, a request is not prepared, or another thread posts the
     *     list
     * @throws PostException             if the device refuses a request for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    @HotCall
    public int postSend(final SendList list, final int first, final int count) {
        // Compiled code throws an implicit exception without a message.
        Objects.requireNonNull(list, "the list is null");
        final HotMark mark = sends.enter();
        int reserved = 0;
        int accepted = 0;
        int errno = 0;
        try {
            final long qp = openAddress();
            list.requireOpen(first, count);
            long lengthBytes = 0;
            for (int index = first; index < first + count; index++) {
                lengthBytes += list.checkedLength(index, this, domain);
            }
            PostingThreads.check(senders);
            reserved = sendBudget == null ? count : list.reserve(sendBudget, first, count, signalAll, sends.isShared());
            if (reserved > 0) {
                errno = list.post(mark.turn(), sendFunction, qp, first, reserved, lengthBytes);
                accepted = list.accepted();
            }
        } finally {
            // None if the range is outside of the list, whatever the sum would be.
            for (int last = reserved; last > accepted && sendBudget != null; last--) {
                sendBudget.cancelSend(list.isSignalled(first + last - 1, signalAll));
            }
            mark.leave();
        }
        return accepted("ibv_post_send", errno, accepted);
    }

    /**
     * Posts all receives of a list, in order.
     *
     * @param list the receives
     * @return number of accepted receives, from the first; fewer if the receive queue or the budget of its completion queue is
     *     full
     * @throws IllegalArgumentException if a receive has too many elements, or memory of another protection domain
     * @throws IllegalStateException    if this or the list is closed, the receives come from a shared receive queue, or another
     *     thread posts the list
     * @throws PostException            if the device refuses a receive for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_recv.3.html">ibv_post_recv(3)</a>
     */
    public int postReceive(final ReceiveList list) {
        Objects.requireNonNull(list, "the list is null");
        return postReceive(list, 0, list.capacity());
    }

    /**
     * Posts receives of a list, in order.
     *
     * @param list  the receives
     * @param first index of the first one to post
     * @param count number of receives, 0 or more
     * @return number of accepted receives, from the first; fewer if the receive queue or the budget of its completion queue is
     *     full
     * @throws IndexOutOfBoundsException if the receives are not within the list
     * @throws IllegalArgumentException  if a receive has too many elements, or memory of another protection domain
     * @throws IllegalStateException     if this or the list is closed, the receives come from a shared receive queue, or another
     *     thread posts the list
     * @throws PostException             if the device refuses a receive for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_recv.3.html">ibv_post_recv(3)</a>
     */
    @HotCall
    public int postReceive(final ReceiveList list, final int first, final int count) {
        Objects.requireNonNull(list, "the list is null");
        final HotMark mark = receives.enter();
        int reserved = 0;
        int accepted = 0;
        int errno = 0;
        try {
            final long qp = openAddress();
            list.requireOpen(first, count);
            requireOwnReceives();
            for (int index = first; index < first + count; index++) {
                list.lengthOf(index, maxReceiveElements);
                list.requireDomain(index, domain, this);
            }
            PostingThreads.check(receivers);
            if (count > 0) {
                reserved = receiveBudget == null ? count : receiveBudget.reserveReceives(count, receives.isShared());
            }
            if (reserved > 0) {
                // A receive copies nothing.
                errno = list.post(mark.turn(), receiveFunction, qp, first, reserved, 0);
                accepted = list.accepted();
            }
        } finally {
            for (int refused = accepted; refused < reserved && receiveBudget != null; refused++) {
                receiveBudget.cancelReceive();
            }
            mark.leave();
        }
        return accepted("ibv_post_recv", errno, accepted);
    }

    /**
     * Posts a message, which consumes a receive of the other side. As the other posts of single requests it needs no list;
     * requests of one shape cost less as {@link SendList}.
     *
     * @param source        the message; null for an empty one
     * @param offset        in bytes
     * @param lengthBytes   of the message
     * @param signaled      whether it generates a completion also if it succeeds
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalArgumentException  if the region is of another protection domain, or this queue pair takes no elements
     * @throws IllegalStateException     if this or the region is closed
     * @throws PostException             if the device refuses it for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    public boolean send(final MemoryRegion source, final long offset, final long lengthBytes, final boolean signaled,
        final long workRequestId) {
        return post(SendList.SEND, null, 0, source, offset, lengthBytes, signaled, 0, workRequestId);
    }

    /**
     * Posts a message with 32 bits of data that the receive's completion carries.
     *
     * @param source        the message; null for an empty one
     * @param offset        in bytes
     * @param lengthBytes   of the message
     * @param signaled      whether it generates a completion also if it succeeds
     * @param immediate     the 32 bits, in host byte order
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalArgumentException  if the region is of another protection domain, or this queue pair takes no elements
     * @throws IllegalStateException     if this or the region is closed
     * @throws PostException             if the device refuses it for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    public boolean sendWithImmediate(final MemoryRegion source, final long offset, final long lengthBytes,
        final boolean signaled, final int immediate, final long workRequestId) {
        return post(SendList.SEND_WITH_IMM, null, 0, source, offset, lengthBytes, signaled, immediate, workRequestId);
    }

    /**
     * Posts a write to the other side's memory.
     *
     * @param target        memory of the other side, registered there with {@link AccessFlag#REMOTE_WRITE}; null for a write of
     *                      nothing, which has no source either
     * @param targetOffset  in bytes
     * @param source        the data; null for a write of nothing
     * @param sourceOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it generates a completion also if it succeeds
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if a piece is not within its memory
     * @throws IllegalArgumentException  if the region is of another protection domain, or this queue pair takes no elements
     * @throws IllegalStateException     if this or the region is closed
     * @throws PostException             if the device refuses it for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    public boolean write(final RemoteMemory target, final long targetOffset, final MemoryRegion source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        if (source != null || lengthBytes != 0) {
            Objects.requireNonNull(target, "the target is null");
        }
        return post(SendList.RDMA_WRITE, target, targetOffset, source, sourceOffset, lengthBytes, signaled, 0, workRequestId);
    }

    /**
     * Posts a write that also consumes a receive of the other side and completes it with 32 bits of data.
     *
     * @param target        memory of the other side, registered there with {@link AccessFlag#REMOTE_WRITE}
     * @param targetOffset  in bytes
     * @param source        the data; null for a write of nothing
     * @param sourceOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it generates a completion also if it succeeds
     * @param immediate     the 32 bits, in host byte order
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if a piece is not within its memory
     * @throws IllegalArgumentException  if the region is of another protection domain, or this queue pair takes no elements
     * @throws IllegalStateException     if this or the region is closed
     * @throws PostException             if the device refuses it for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    public boolean writeWithImmediate(final RemoteMemory target, final long targetOffset, final MemoryRegion source,
        final long sourceOffset, final long lengthBytes, final boolean signaled, final int immediate, final long workRequestId) {
        Objects.requireNonNull(target, "the target is null");
        return post(SendList.RDMA_WRITE_WITH_IMM, target, targetOffset, source, sourceOffset, lengthBytes, signaled, immediate,
            workRequestId);
    }

    /**
     * Posts a read of the other side's memory.
     *
     * @param target        where the bytes go, registered with {@link AccessFlag#LOCAL_WRITE}; null for a read of nothing
     * @param targetOffset  in bytes
     * @param source        memory of the other side, registered there with {@link AccessFlag#REMOTE_READ}
     * @param sourceOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it generates a completion also if it succeeds
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if a piece is not within its memory
     * @throws IllegalArgumentException  if the region is of another protection domain, or this queue pair takes no elements
     * @throws IllegalStateException     if this or the region is closed
     * @throws PostException             if the device refuses it for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
     */
    public boolean read(final MemoryRegion target, final long targetOffset, final RemoteMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        Objects.requireNonNull(source, "the source is null");
        return post(SendList.RDMA_READ, source, sourceOffset, target, targetOffset, lengthBytes, signaled, 0, workRequestId);
    }

    @HotCall
    private boolean post(final int opcode, final RemoteMemory remote, final long remoteOffset, final MemoryRegion memory,
        final long offset, final long lengthBytes, final boolean signaled, final int immediate, final long workRequestId) {
        PostList.requireLength(lengthBytes);
        final boolean completes = signaled || signalAll;
        final HotMark mark = sends.enter();
        int errno = NOT_RESERVED;
        try {
            final long qp = openAddress();
            requireElement(memory, sendDomain, "maxSendElements");
            final long address = addressOf(memory, offset, lengthBytes);
            if (remote != null) {
                Bounds.checkRange(remoteOffset, lengthBytes, remote.lengthBytes());
            }
            PostingThreads.check(senders);
            if (sendBudget != null && !sendBudget.reserveSend(completes, sends.isShared())) {
                return false;
            }
            errno = RESERVED;
            singleSend.setSend(opcode, signaled ? SendList.SIGNALED : 0, immediate, remote, remoteOffset, workRequestId, memory,
                address, lengthBytes);
            errno = singleSend.postSend(mark.turn(), sendFunction, qp, lengthBytes);
        } finally {
            if (errno != 0 && errno != NOT_RESERVED && sendBudget != null) {
                sendBudget.cancelSend(completes);
            }
            mark.leave();
        }
        return isAccepted("ibv_post_send", errno);
    }

    /**
     * Posts a receive for a message of the other side.
     *
     * @param target        of the message, registered with {@link AccessFlag#LOCAL_WRITE}; null for an empty message
     * @param offset        in bytes
     * @param lengthBytes   capacity for the message
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the receive queue or the budget of its completion queue is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalArgumentException  if the region is of another protection domain, or this queue pair takes no elements
     * @throws IllegalStateException     if this or the region is closed, or the receives come from a shared receive queue
     * @throws PostException             if the device refuses it for another reason
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_recv.3.html">ibv_post_recv(3)</a>
     */
    @HotCall
    public boolean receive(final MemoryRegion target, final long offset, final long lengthBytes, final long workRequestId) {
        PostList.requireLength(lengthBytes);
        final HotMark mark = receives.enter();
        int errno = NOT_RESERVED;
        try {
            final long qp = openAddress();
            requireOwnReceives();
            requireElement(target, receiveDomain, "maxReceiveElements");
            final long address = addressOf(target, offset, lengthBytes);
            PostingThreads.check(receivers);
            if (receiveBudget != null && !receiveBudget.reserveReceive(receives.isShared())) {
                return false;
            }
            errno = RESERVED;
            singleReceive.setReceive(workRequestId, target, address, lengthBytes);
            errno = singleReceive.postReceive(mark.turn(), receiveFunction, qp);
        } finally {
            if (errno != 0 && errno != NOT_RESERVED && receiveBudget != null) {
                receiveBudget.cancelReceive();
            }
            mark.leave();
        }
        return isAccepted("ibv_post_recv", errno);
    }

    /** Leases later posts to the send queue to the calling thread, if no other thread makes any. */
    void leaseSends(final HotLease lease) {
        lease(sends, lease);
    }

    /** The same to the receive queue. */
    void leaseReceives(final HotLease lease) {
        lease(receives, lease);
    }

    @HotCall
    private void lease(final HotCalls calls, final HotLease lease) {
        // Where threads take turns there is no lease; a post then enters the lock only once.
        if (!calls.isLocked()) {
            final HotMark mark = calls.enter();
            try {
                calls.lease(lease);
            } finally {
                mark.leave();
            }
        }
    }

    /** The device's function for posts to the send queue. */
    MemorySegment sendFunction() {
        return sendFunction;
    }

    /** The same for the receive queue. */
    MemorySegment receiveFunction() {
        return receiveFunction;
    }

    /** The address for leased posts of memory of a region: they reserve no completions and check no threads; 0 if one must. */
    long leasableForSends(final MemoryRegion region) {
        return PostingThreads.CHECKED || sendBudget != null || region.isClosed() || region.domain() != sendDomain ? 0 :
            addressOrZero();
    }

    /** The same for receives. */
    long leasableForReceives(final MemoryRegion region) {
        return PostingThreads.CHECKED || receiveBudget != null || sharedReceives != null || region.isClosed() ||
            region.domain() != receiveDomain ? 0 : addressOrZero();
    }

    /** One comparison for both: whether requests have elements, and whether their keys are valid here. */
    private void requireElement(final MemoryRegion memory, final ProtectionDomain taken, final String attribute) {
        if (memory != null && memory.domain() != taken) {
            throw taken == null ?
                new IllegalArgumentException(name() + " takes no memory with a request: create it with " + attribute + "(1)") :
                PostList.ofAnotherDomain(memory.name(), this);
        }
    }

    private static long addressOf(final MemoryRegion memory, final long offset, final long lengthBytes) {
        if (memory == null) {
            if (lengthBytes != 0) {
                throw new IllegalArgumentException(lengthBytes + " bytes without a memory region: null is for 0 bytes");
            }
            return 0;
        }
        return memory.openAddressFor(offset, lengthBytes);
    }

    private void requireOwnReceives() {
        if (sharedReceives != null) {
            throw new IllegalStateException(
                name() + " takes its receives from " + sharedReceives.name() + ": post them there");
        }
    }

    static boolean isAccepted(final String function, final int errno) {
        return errno == 0 || accepted(function, errno, 0) == 1;
    }

    /** The result of a post: a full queue is an ordinary answer. */
    static int accepted(final String function, final int errno, final int accepted) {
        if (errno != 0 && Math.abs(errno) != Errno.ENOMEM) {
            throw new PostException(function, Math.abs(errno), accepted, Math.abs(errno) == Errno.EINVAL ?
                "request " + accepted + " of the call is invalid (an atomic needs one element of 8 bytes), or the connection is" +
                    " not " + ConnectionState.ESTABLISHED + ": await it by nextEvent" : "");
        }
        return accepted;
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected void destroy(final long lastAddress) {
        id.destroyQueuePair();
        sends.discard();
        receives.discard();
        budgets.close();
    }
}
