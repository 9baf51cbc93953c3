package io.ringpoll.rpma;

import static io.ringpoll.rpma.Posts.checkLength;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotMark;
import java.util.Optional;

/**
 * Receives that the messages of several connections consume.
 *
 * <p>Any thread may post; posts of several threads are made one after the other, as those of a {@link Connection}.
 *
 * <p>It is closed after its connections and the configurations that name it.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_new.3.html">rpma_srq_new(3)</a>
 */
public final class SharedReceiveQueue extends RpmaObject {
    private final HotCalls calls;
    private final Optional<RpmaCompletionQueue> receiveSome;

    private SharedReceiveQueue(final String name, final long address) {
        super(name, address);
        final CallState state = CallState.current();
        Librpma.PEER.rpma_srq_get_rcq(address, state.scratch());
        final long receiveQueue = state.longAt(0);
        receiveSome = receiveQueue == 0 ? Optional.empty() :
            Optional.of(RpmaCompletionQueue.shared(name + " receive CQ", receiveQueue, this));
        calls = HotCalls.register(SharedReceiveQueue.class);
    }

    static SharedReceiveQueue create(final Peer peer, final SharedReceiveQueueConfig config) {
        final long peerAddress = peer.enterAsParent();
        try {
            final long configAddress = SharedReceiveQueueConfig.enter(config);
            try {
                final CallState state = CallState.current();
                LogSink.clearError();
                RpmaException.check("rpma_srq_new", Librpma.PEER.rpma_srq_new(peerAddress, configAddress, state.scratch()),
                    QueueLimits.remedy(peer, config));
                return take(state.longAt(0), address -> {
                    final SharedReceiveQueue queue = new SharedReceiveQueue("shared receive queue of " + peer.name(), address);
                    queue.dependsOn(peer);
                    return queue;
                }, SharedReceiveQueue::delete);
            } finally {
                SharedReceiveQueueConfig.exit(config);
            }
        } finally {
            peer.exitAsParent();
        }
    }

    /**
     * The receive CQ, if {@link SharedReceiveQueueConfig#rcqSize(int)} requested one: the receives of all connections complete
     * here; {@link io.ringpoll.completion.WorkCompletion#queuePairNumber()} identifies the connection. Completions of a closed
     * connection can still be polled. A device that still delivers a message after the connection's queue pair has failed may
     * lose that message's receive: there, disconnect, await the event {@code QP_LAST_WQE_REACHED} and close.
     *
     * @return the same at each call; ends with this
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_get_rcq.3.html">rpma_srq_get_rcq(3)</a>
     */
    public Optional<RpmaCompletionQueue> receiveCompletionQueue() {
        return receiveSome;
    }

    /**
     * Posts a receive for a message of any connection. It always generates a completion. Allocates nothing.
     *
     * @param destination   the target of the message, registered for {@link MemoryUsage#RECEIVE}; null for an empty message
     * @param offset        in bytes
     * @param lengthBytes   capacity for the message
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the queue or the budget of its receive CQ is full
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalStateException     if the queue or the region is closed
     * @throws RpmaException             as in rpma_srq_recv(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_recv.3.html">rpma_srq_recv(3)</a>
     */
    @HotCall
    public boolean receive(final LocalMemoryRegion destination, final long offset, final long lengthBytes,
        final long workRequestId) {
        checkLength(lengthBytes);
        final CompletionBudget budget = receiveSome.isPresent() ? receiveSome.get().budget() : null;
        final HotMark mark = calls.enter();
        int result = Posts.NOT_RESERVED;
        try {
            final long queue = openAddress();
            final long to = destination == null ? 0 : destination.addressFor(offset, lengthBytes);
            if (!Posts.reserveReceive(null, budget, calls)) {
                return false;
            }
            result = Posts.RESERVED;
            result = Librpma.POSTING.rpma_srq_recv(mark.turn(), queue, to, offset, lengthBytes, workRequestId);
        } finally {
            Posts.endReceive(budget, mark, result);
        }
        return Posts.isAccepted("rpma_srq_recv", result);
    }

    /** Enters the queue on behalf of a configuration that refers to it. */
    long enterAsParent() {
        return enter();
    }

    /** Leaves the queue on behalf of a configuration that refers to it. */
    void exitAsParent() {
        exit();
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected void endParts() {
        receiveSome.ifPresent(RpmaCompletionQueue::endWithOwner);
    }

    @Override
    protected void destroy(final long lastAddress) {
        try {
            RpmaException.check("rpma_srq_delete", delete(lastAddress));
        } finally {
            calls.discard();
            receiveSome.ifPresent(RpmaCompletionQueue::discard);
        }
    }

    private static int delete(final long queue) {
        return delete(Librpma.PEER::rpma_srq_delete, queue);
    }
}
