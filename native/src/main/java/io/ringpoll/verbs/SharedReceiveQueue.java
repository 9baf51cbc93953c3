package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Parents;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Receives that the messages of several queue pairs consume. They complete in the receive queue of the queue pair of the message.
 * No budget counts them: the completion queues are to be as deep as the receives that they may complete.
 *
 * <p>Any thread may post and close; posts of several threads are made one after the other. It is closed after its queue pairs.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_srq.3.html">ibv_create_srq(3)</a>
 */
public final class SharedReceiveQueue extends NativeResource {
    private final ProtectionDomain domain;
    private final HotCalls calls;
    private final MemorySegment function;
    private final int maxRequests;
    private final int maxElements;

    private SharedReceiveQueue(
        final ProtectionDomain domain, final long address, final int maxRequests, final int maxElements) {
        super("shared receive queue of " + domain.name(), address);
        this.domain = domain;
        this.maxRequests = maxRequests;
        this.maxElements = maxElements;
        function = PostFunctions.sharedReceiveOf(address);
        calls = HotCalls.register(SharedReceiveQueue.class);
    }

    /**
     * Creates a shared receive queue.
     *
     * @param domain      of its queue pairs
     * @param maxRequests at least that many outstanding receives
     * @param maxElements at least that many pieces of memory of a receive
     * @return to be closed before the domain and after its queue pairs
     * @throws IllegalArgumentException if a number is less than 1
     * @throws VerbsException           with the errno of ibv_create_srq(3)
     */
    public static SharedReceiveQueue create(final ProtectionDomain domain, final int maxRequests, final int maxElements) {
        Objects.requireNonNull(domain, "the domain is null");
        if (maxRequests < 1 || maxElements < 1) {
            throw new IllegalArgumentException(
                maxRequests + " receives of " + maxElements + " elements: at least 1 of each is needed");
        }
        final long pd = Parents.enter(domain);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment struct = arena.allocate(IbvQpInitAttr.SRQ_SIZE_BYTES, Long.BYTES);
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.SRQ_MAX_WR_OFFSET, maxRequests);
            struct.set(ValueLayout.JAVA_INT, IbvQpInitAttr.SRQ_MAX_SGE_OFFSET, maxElements);
            final long srq = ResourceFunctions.ibv_create_srq(pd, struct.address());
            if (srq == 0) {
                throw new VerbsException("ibv_create_srq", CallState.current().errno(),
                    "the device may not allow " + maxRequests + " receives of " + maxElements + " elements");
            }
            return take(srq, address -> {
                final SharedReceiveQueue queue = new SharedReceiveQueue(domain, address,
                    struct.get(ValueLayout.JAVA_INT, IbvQpInitAttr.SRQ_MAX_WR_OFFSET),
                    struct.get(ValueLayout.JAVA_INT, IbvQpInitAttr.SRQ_MAX_SGE_OFFSET));
                queue.dependsOn(domain);
                return queue;
            }, ResourceFunctions::ibv_destroy_srq);
        } finally {
            Parents.exit(domain);
        }
    }

    /** Enters a queue that may be null; then the address is 0. */
    static long enter(final SharedReceiveQueue queue) {
        return queue == null ? 0 : queue.enter();
    }

    /** Leaves a queue that may be null. */
    static void exit(final SharedReceiveQueue queue) {
        if (queue != null) {
            queue.exit();
        }
    }

    /**
     * The granted depth.
     *
     * @return receives, at least as many as were asked for
     */
    public int maxRequests() {
        return maxRequests;
    }

    /**
     * Posts all receives of a list, in order.
     *
     * @param list the receives
     * @return number of accepted receives, from the first; fewer if the queue is full
     * @throws IllegalArgumentException if a receive has more elements than this queue allows, or memory of another protection
     *     domain
     * @throws IllegalStateException    if this or the list is closed
     * @throws PostException            if the device refuses a receive for another reason
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
     * @return number of accepted receives, from the first; fewer if the queue is full
     * @throws IndexOutOfBoundsException if the receives are not within the list
     * @throws IllegalArgumentException  if a receive has more elements than this queue allows, or memory of another protection
     *     domain
     * @throws IllegalStateException     if this or the list is closed
     * @throws PostException             if the device refuses a receive for another reason
     */
    @HotCall
    public int postReceive(final ReceiveList list, final int first, final int count) {
        Objects.requireNonNull(list, "the list is null");
        final HotMark mark = calls.enter();
        int accepted = 0;
        int errno = 0;
        try {
            final long srq = openAddress();
            list.requireOpen(first, count);
            for (int index = first; index < first + count; index++) {
                list.lengthOf(index, maxElements);
                list.requireDomain(index, domain, this);
            }
            if (count > 0) {
                errno = list.post(mark.turn(), function, srq, first, count, 0);
                accepted = list.accepted();
            }
        } finally {
            mark.leave();
        }
        return QueuePair.accepted("ibv_post_srq_recv", errno, accepted);
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected void destroy(final long lastAddress) {
        final int errno = ResourceFunctions.ibv_destroy_srq(lastAddress);
        calls.discard();
        if (errno != 0) {
            throw new VerbsException("ibv_destroy_srq", Math.abs(errno));
        }
    }
}
