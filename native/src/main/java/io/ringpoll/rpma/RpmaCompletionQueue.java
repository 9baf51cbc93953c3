package io.ringpoll.rpma;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.lifecycle.NativeObject;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.os.FileDescriptors;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.internal.verbs.PollTable;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A completion queue of librpma: a connection's main or receive queue, or the receive queue of a shared receive queue.
 *
 * <p>Thread-safe. Polls of several threads are serialised, as are the posts of a {@link Connection}; the distribution of
 * completions among them is unspecified. The queue is closed with its connection or shared receive queue; polling it then returns
 * {@link RpmaError#INVAL}, other methods throw {@link IllegalStateException}.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_cq_get_wc.3.html">rpma_cq_get_wc(3)</a>
 */
public final class RpmaCompletionQueue extends NativeObject implements CompletionQueue {
    private static final int CACHE_LINE_BYTES = 64;
    /** The first function of librpma 1.0 that is about shared channels. */
    private static final boolean HAS_SHARED_CHANNELS = Libraries.current().rpma().has("rpma_conn_get_compl_fd");
    private static final boolean HAS_GET_COMPLETION = Libraries.current().rpma().has("rpma_cq_get_completion");

    static {
        CountedQueues.register(RpmaCompletionQueue.class, queue -> queue.new LeasedPoll());
    }

    private final HotCalls calls;
    private final UnsafeBuffer got;
    private final long gotAddress;
    private final int fd;
    private final NativeResource owner;
    private final long ibvCq;
    /** Null if the queue belongs to one connection. */
    private final CompletionHandover handover;
    /** Null if none is kept. */
    private CompletionBudget budget;

    private RpmaCompletionQueue(
        final String name, final long address, final NativeResource owner, final boolean shared) {
        super(name, address);
        this.owner = owner;
        got = new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
        gotAddress = got.addressOffset();
        final CallState state = CallState.current();
        RpmaException.check("rpma_cq_get_fd", Librpma.COMPLETION.rpma_cq_get_fd(address, state.scratch()));
        fd = state.intAt(0);
        FileDescriptors.setNonBlocking(fd);
        ibvCq = RpmaCq.ibvCq(address, fd, HAS_SHARED_CHANNELS);
        final int capacity = ibvCq == 0 ? Integer.MAX_VALUE : VerbsAccess.capacity(ibvCq);
        budget = ibvCq == 0 ? null : new CompletionBudget(capacity);
        handover = shared ? new CompletionHandover(capacity) : null;
        calls = HotCalls.register(RpmaCompletionQueue.class);
    }

    /** A queue of one connection. */
    static RpmaCompletionQueue of(final String name, final long address, final Connection owner) {
        return new RpmaCompletionQueue(name, address, owner, false);
    }

    /** A queue of the connections that share an owner. */
    static RpmaCompletionQueue shared(final String name, final long address, final SharedReceiveQueue owner) {
        return new RpmaCompletionQueue(name, address, owner, true);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Negative results: {@link RpmaError#PROVIDER} ({@code ibv_poll_cq} failed), {@link RpmaError#UNKNOWN} (it returned more
     * than it was asked for), {@link RpmaError#INVAL} ({@code maxEntries} 0, or the queue is closed).
     *
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_cq_get_wc.3.html">rpma_cq_get_wc(3)</a>
     */
    @Override
    @HotCall
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        // Compiled code throws an implicit exception without a message.
        Objects.requireNonNull(records, "the records to poll into are null");
        final HotMark mark = calls.enter();
        try {
            final int count = poll(mark, records.address(first, maxEntries), maxEntries);
            final CompletionBudget account = budget;
            if (count > 0 && account != null) {
                account.onPolled(records, first, count);
            }
            return count;
        } finally {
            mark.leave();
            Reference.reachabilityFence(records);
        }
    }

    /** The poll of a poller, which makes all polls of the queue. */
    private final class LeasedPoll extends HotLease implements CountedQueue {
        private final UnsafeBuffer count =
            new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
        private final long countAddress = count.addressOffset();

        LeasedPoll() {
            super(LeasedPoll.class);
        }

        @Override
        protected long leasable() {
            return handover != null && handover.isActive() ? 0 : addressOrZero();
        }

        @Override
        @HotCall
        public int pollUncounted(final long wcAddress, final int maxEntries) {
            final long cq = enterLeased();
            if (cq == 0) {
                return pollAndLease(wcAddress, maxEntries);
            }
            final int result = Librpma.COMPLETION.rpma_cq_get_wc(turn(), cq, maxEntries, wcAddress, countAddress);
            leave();
            if (result == RpmaError.SUCCESS) {
                return count.getInt(0);
            }
            return result == RpmaError.NO_COMPLETION ? 0 : failed(result);
        }

        @Override
        public void onHandOver() {
            revoke();
        }

        @Override
        public PollTable newTable() {
            return new RpmaPollTable();
        }

        @Override
        public void moveTo(final PollTable table, final int place) {
            takePlace(table instanceof final RpmaPollTable mine ? mine : null, place);
        }

        @Override
        @HotCall
        public int pollAndLease(final long wcAddress, final int maxEntries) {
            final HotMark mark = calls.enter();
            try {
                calls.lease(this);
                return poll(mark, wcAddress, maxEntries);
            } finally {
                mark.leave();
            }
        }
    }

    private int poll(final HotMark mark, final long wcAddress, final int maxEntries) {
        return handover != null && handover.isActive() && addressOrZero() != 0 ?
            handover.poll(this::pollPlain, wcAddress, maxEntries) : poll(mark.turn(), wcAddress, maxEntries);
    }

    private int pollPlain(final long wcAddress, final int maxEntries) {
        return poll(CallTurn.PLAIN, wcAddress, maxEntries);
    }

    private int poll(final int turn, final long wcAddress, final int maxEntries) {
        final int result = Librpma.COMPLETION.rpma_cq_get_wc(turn, addressOrZero(), maxEntries, wcAddress, gotAddress);
        if (result == RpmaError.SUCCESS) {
            return got.getInt(0);
        }
        return result == RpmaError.NO_COMPLETION ? 0 : failed(result);
    }

    /**
     * Polls one completion in the form of librpma up to 0.11: by the old call if the loaded library still has it, else by
     * rpma_cq_get_wc(3) with the old call's meaning of each field.
     *
     * @param completion to be set
     * @return 0; or {@link RpmaError#NO_COMPLETION}, {@link RpmaError#PROVIDER}, {@link RpmaError#UNKNOWN},
     *     {@link RpmaError#NOSUPP} if the completion's opcode is none of the old ones and the completion is lost, or
     *     {@link RpmaError#INVAL} if the queue is closed
     * @see <a href="https://pmem.io/rpma/manpages/v0.11.0/rpma_cq_get_completion.3/">manual page</a>
     */
    @HotCall
    public int getCompletion(final LegacyCompletion completion) {
        Objects.requireNonNull(completion, "the completion to be set is null");
        final HotMark mark = calls.enter();
        try {
            if (HAS_GET_COMPLETION) {
                final int result =
                    Librpma.COMPLETION.rpma_cq_get_completion(mark.turn(), addressOrZero(), completion.structAddress());
                if (result == RpmaError.SUCCESS && budget != null) {
                    budget.onPolled(completion.path());
                }
                return failed(result);
            }
            final int count = poll(mark, completion.wcAddress(), 1);
            if (count != 1) {
                return count == 0 ? RpmaError.NO_COMPLETION : count;
            }
            if (budget != null) {
                budget.onPolled(completion.wc(), 0, 1);
            }
            return completion.setFromWc();
        } finally {
            mark.leave();
        }
    }

    /**
     * The descriptor of the completion channel, readable when there is an event; for epoll(7) and the like. It is non-blocking
     * and must stay so.
     *
     * @return the descriptor, valid until the queue's owner is closed
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_cq_get_fd.3.html">rpma_cq_get_fd(3)</a>
     */
    public int fd() {
        return fd;
    }

    /**
     * {@inheritDoc} It counts the posts of the connection or shared receive queue, and refuses posts that could make this queue
     * overrun. Receives of a shared receive queue that has no receive CQ of its own are not counted.
     */
    @Override
    public CompletionBudget budget() {
        return budget;
    }

    /**
     * Keeps no budget: nothing is refused, and a queue that is not polled in time overruns. To be called before the first post,
     * and before another thread polls.
     *
     * @return this
     */
    public RpmaCompletionQueue withoutBudget() {
        budget = null;
        return this;
    }

    /**
     * Waits for an event, acknowledges it and requests the next one. After true, poll until the queue is empty before the next
     * wait; it may be empty already.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until the owner is closed
     * @return true if there was an event, false if there was none in time
     * @throws IllegalStateException    if the queue's owner is closed, now or while this waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws RpmaException            {@code RPMA_E_SHARED_CHANNEL} if the event could be another queue's (use {@link
     *                                  Connection#awaitCompletions}), {@code RPMA_E_PROVIDER} if the next event cannot be
     *                                  requested
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_cq_wait.3.html">rpma_cq_wait(3)</a>
     */
    public boolean await(final int timeoutMs) {
        final long cq = enter();
        try {
            final long startNs = System.nanoTime();
            int remainingMs = timeoutMs;
            while (true) {
                final int result = Librpma.COMPLETION.rpma_cq_wait(cq);
                if (result == RpmaError.SUCCESS) {
                    return true;
                }
                if (result != RpmaError.NO_COMPLETION) {
                    throw RpmaException.withoutErrno("rpma_cq_wait", result);
                }
                LogSink.clearError();
                if (remainingMs == 0 || !awaitReadable(fd, remainingMs)) {
                    return false;
                }
                remainingMs = Deadline.remainingMs(timeoutMs, startNs);
            }
        } finally {
            exit();
        }
    }

    /**
     * The verbs queue below this one: for polls straight through the device's function, and for events in its
     * {@link io.ringpoll.completion.CompletionChannel}, acknowledged in bulk. Both queues hold the same completions; poll one of
     * them.
     *
     * @return to be closed before the queue's owner
     * @throws IllegalStateException         if the queue's owner is closed
     * @throws UnsupportedOperationException if the loaded librpma hides it
     */
    public VerbsCompletionQueue openVerbs() {
        return openVerbs(name() + " (verbs)");
    }

    /**
     * As {@link #openVerbs()}, with a name.
     *
     * @param name of the verbs queue in messages, for instance in the refusal to close this queue's owner before it
     * @return to be closed before the queue's owner
     * @throws IllegalStateException         if the queue's owner is closed
     * @throws UnsupportedOperationException if the loaded librpma hides it
     */
    public VerbsCompletionQueue openVerbs(final String name) {
        Objects.requireNonNull(name, "the name is null");
        enter();
        try {
            if (ibvCq == 0) {
                throw new UnsupportedOperationException("this librpma's struct rpma_cq is none of those of 0.10 to 1.3");
            }
            return VerbsAccess.borrow(ibvCq, name, owner, this, handover);
        } finally {
            exit();
        }
    }

    /**
     * Whether an asynchronous event is about this queue.
     *
     * @param event of the same device
     * @return true if it names this queue
     */
    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return event.completionQueueAddress() != 0 && event.completionQueueAddress() == ibvCq;
    }

    /** Clears the message of librpma for a result that is returned as a value. */
    static int failed(final int result) {
        if (result != RpmaError.NO_COMPLETION && result != RpmaError.SUCCESS) {
            LogSink.clearError();
        }
        return result;
    }

    /** Announces that a connection which shares the queue is about to end. */
    void beginHandover() {
        handover.begin();
    }

    /** Stores the completions of a connection that shares the queue and produces no more. */
    void completeHandover() {
        handover.complete(this::pollPlain);
    }

    /** Ends the queue on behalf of its owner, which then drains hot calls and frees it. */
    void endWithOwner() {
        end();
    }

    /** Forgets the queue, which C has freed. */
    void discard() {
        calls.discard();
    }
}
