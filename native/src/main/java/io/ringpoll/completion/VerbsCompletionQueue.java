package io.ringpoll.completion;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.HotCall;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.os.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

/**
 * A completion queue of libibverbs, polled through the function pointer of its device: created here, or the queue below a queue
 * of librpma.
 *
 * <p>Any thread may poll; polls of several threads are made one after the other. Events are requested here and delivered by the
 * {@link CompletionChannel}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
 */
public final class VerbsCompletionQueue extends NativeResource implements CompletionQueue {
    /** Linked with this class, by the thread that opens a queue: when a poller first sleeps, completions may already wait. */
    private static final VerbsFunctions VERBS = FfmVerbsFunctions.VERBS;
    private static final int FIRST_VECTOR = 0;

    static {
        CountedQueues.register(VerbsCompletionQueue.class,
            queue -> queue.timestamps ? queue.new LeasedTimestampPoll() : queue.new LeasedPoll());
    }

    private final HotCalls calls;
    private final MemorySegment pollFunction;
    private final MemorySegment notifyFunction;
    private final boolean created;
    /** Whether it is an extended queue, {@code struct ibv_cq_ex}. */
    private final boolean timestamps;
    /** Null if this is not a view. */
    private final CompletionQueue viewed;
    private int unacknowledged;
    private boolean ended;
    /** Null if none is kept. Set before the first post that it counts, and read after a poll: by any thread that polls. */
    private volatile CompletionBudget budget;
    /** Null if the queue is not shared. */
    private CompletionHandover handover;

    private VerbsCompletionQueue(
        final String name, final long address, final CompletionQueue viewed, final boolean created, final boolean timestamps) {
        super(name, address);
        this.viewed = viewed;
        this.created = created;
        this.timestamps = timestamps;
        final long context = Memory.longAt(address + IbvCq.CONTEXT_OFFSET);
        pollFunction = VERBS.pollCqOf(context);
        notifyFunction = MemorySegment.ofAddress(Memory.longAt(context + IbvContext.REQ_NOTIFY_CQ_OFFSET));
        calls = HotCalls.register(VerbsCompletionQueue.class);
    }

    /**
     * Creates a queue.
     *
     * @param context the device
     * @param name    for reports
     * @param entries minimum number of completions that it holds
     * @param channel the channel of its events, or null for none
     * @return to be closed before the channel; closing it acknowledges its events
     * @throws VerbsException with the errno of ibv_create_cq(3), for instance if the device does not allow so many entries
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
     */
    public static VerbsCompletionQueue create(final VerbsContext context, final String name, final int entries,
        final CompletionChannel channel) {
        return create(context, name, entries, channel, FIRST_VECTOR);
    }

    /**
     * Creates a queue whose events are raised by an interrupt of choice, for instance one of the waiting thread's core.
     *
     * @param context          the device
     * @param name             for reports
     * @param entries          minimum number of completions that it holds
     * @param channel          the channel of its events, or null for none
     * @param completionVector index of the interrupt, from 0 to {@link VerbsContext#completionVectors()} - 1
     * @return to be closed before the channel; closing it acknowledges its events
     * @throws IllegalArgumentException if the device does not have the vector
     * @throws VerbsException           with the errno of ibv_create_cq(3), for instance if the device does not allow so many
     *     entries
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
     */
    public static VerbsCompletionQueue create(final VerbsContext context, final String name, final int entries,
        final CompletionChannel channel, final int completionVector) {
        Objects.requireNonNull(context, "the context is null");
        Objects.requireNonNull(name, "the name is null");
        requireVector(context, name, completionVector);
        final long channelAddress = channel == null ? 0 : channel.enterForQueue();
        try {
            return context.create(device -> {
                final long address = VERBS.ibv_create_cq(device, entries, 0, channelAddress, completionVector);
                if (address == 0) {
                    throw refused("ibv_create_cq", context, name, entries, CallState.current().errno());
                }
                return created(address, name, channel, false);
            });
        } finally {
            if (channel != null) {
                channel.exitForQueue();
            }
        }
    }

    /**
     * Creates an extended queue, whose completions have timestamps of the device: {@link WorkCompletion#completionTimestamp()}.
     * It is polled into the same records as any other.
     *
     * @param context the device, which must have the capability {@value DeviceClock#CAPABILITY}
     * @param name    for reports
     * @param entries minimum number of completions that it holds
     * @param channel the channel of its events, or null for none
     * @return to be closed before the channel; closing it acknowledges its events
     * @throws VerbsException with {@code EOPNOTSUPP} if the device does not have the capability, as Soft-RoCE; or with the errno
     *     of ibv_create_cq_ex(3)
     * @see DeviceClock#isOfferedBy
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq_ex.3.html">ibv_create_cq_ex(3)</a>
     */
    public static VerbsCompletionQueue createWithTimestamps(
        final VerbsContext context, final String name, final int entries, final CompletionChannel channel) {
        return createWithTimestamps(context, name, entries, channel, FIRST_VECTOR);
    }

    /**
     * Creates an extended queue as {@link #createWithTimestamps(VerbsContext, String, int, CompletionChannel)}, whose events are
     * raised by an interrupt of choice, for instance one of the waiting thread's core.
     *
     * @param context          the device, which must have the capability {@value DeviceClock#CAPABILITY}
     * @param name             for reports
     * @param entries          minimum number of completions that it holds
     * @param channel          the channel of its events, or null for none
     * @param completionVector index of the interrupt, from 0 to {@link VerbsContext#completionVectors()} - 1
     * @return to be closed before the channel; closing it acknowledges its events
     * @throws IllegalArgumentException if the device does not have the vector
     * @throws VerbsException           with {@code EOPNOTSUPP} if the device does not have the capability, as Soft-RoCE; or with
     *     the errno of ibv_create_cq_ex(3)
     * @see DeviceClock#isOfferedBy
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq_ex.3.html">ibv_create_cq_ex(3)</a>
     */
    public static VerbsCompletionQueue createWithTimestamps(final VerbsContext context, final String name, final int entries,
        final CompletionChannel channel, final int completionVector) {
        Objects.requireNonNull(context, "the context is null");
        Objects.requireNonNull(name, "the name is null");
        requireVector(context, name, completionVector);
        if (!DeviceClock.isOfferedBy(context)) {
            throw DeviceClock.refused("ibv_create_cq_ex", Errno.EOPNOTSUPP, context, name);
        }
        final long channelAddress = channel == null ? 0 : channel.enterForQueue();
        try {
            return context.create(device -> {
                final long address =
                    TimestampFunctions.ringpoll_create_cq_ex(device, entries, channelAddress, completionVector);
                if (address == 0) {
                    final int errno = CallState.current().errno();
                    throw errno == Errno.EOPNOTSUPP ? DeviceClock.refused("ibv_create_cq_ex", errno, context, name) :
                        refused("ibv_create_cq_ex", context, name, entries, errno);
                }
                return created(address, name, channel, true);
            });
        } finally {
            if (channel != null) {
                channel.exitForQueue();
            }
        }
    }

    private static void requireVector(final VerbsContext context, final String name, final int completionVector) {
        if (completionVector < 0 || completionVector >= context.completionVectors()) {
            throw new IllegalArgumentException("completion vector " + completionVector + " of " + name + ": " + context.name() +
                " has the vectors 0 to " + (context.completionVectors() - 1));
        }
    }

    private static VerbsException refused(
        final String function, final VerbsContext context, final String name, final int entries, final int errno) {
        final int most = DeviceAttributes.of(context).map(DeviceAttributes::maxCqe).orElse(Integer.MAX_VALUE);
        return new VerbsException(function, errno, entries >= 1 && entries <= most ? "" :
            name + " cannot hold " + entries + " completions: " + context.name() + " allows 1 to " + most);
    }

    private static VerbsCompletionQueue created(
        final long address, final String name, final CompletionChannel channel, final boolean timestamps) {
        return take(address, cq -> {
            final VerbsCompletionQueue queue = new VerbsCompletionQueue(name, cq, null, true, timestamps);
            if (channel != null) {
                channel.add(queue);
                queue.dependsOn(channel);
            }
            return queue;
        }, VERBS::ibv_destroy_cq);
    }

    /** A queue that its owner creates and destroys. */
    static VerbsCompletionQueue borrow(
        final long address, final String name, final NativeResource owner, final CompletionQueue viewed) {
        Objects.requireNonNull(name, "the name is null");
        Objects.requireNonNull(owner, "the owner is null");
        final VerbsCompletionQueue queue = new VerbsCompletionQueue(name, address, viewed, false, false);
        queue.dependsOn(owner);
        return queue;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Negative results are the provider's; {@code -EINVAL} if the queue is closed or {@code maxEntries} is 0.
     *
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
     */
    @Override
    @HotCall
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        // Compiled code throws an implicit exception without a message.
        Objects.requireNonNull(records, "the records to poll into are null");
        final HotMark mark = calls.enter();
        try {
            final long wcAddress = records.address(first, maxEntries);
            final int result = timestamps ?
                pollTimestamps(mark, wcAddress, maxEntries, records.address(), records.timestampsAddress()) :
                pollRecords(mark, wcAddress, maxEntries);
            final CompletionBudget account = budget;
            if (result > 0 && account != null) {
                account.onPolled(records, first, result);
            }
            return result;
        } finally {
            mark.leave();
            Reference.reachabilityFence(records);
        }
    }

    /** The poll of a poller, which makes all polls of the queue. */
    private final class LeasedPoll extends HotLease implements CountedQueue {
        private final MemorySegment function = pollFunction;

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
                return pollUnleased(wcAddress, maxEntries);
            }
            final int result = VERBS.ibv_poll_cq(turn(), function, cq, maxEntries, wcAddress);
            leave();
            return result;
        }

        @Override
        public void onHandOver() {
            revoke();
        }

        @HotCall
        private int pollUnleased(final long wcAddress, final int maxEntries) {
            final HotMark mark = calls.enter();
            try {
                calls.lease(this);
                return pollRecords(mark, wcAddress, maxEntries);
            } finally {
                mark.leave();
            }
        }
    }

    /** The same of an extended queue, whose timestamps go to an array beside the records. */
    private final class LeasedTimestampPoll extends HotLease implements CountedQueue {
        /** Both are 0 until there is such an array. */
        private long firstRecord;
        private long firstTimestamp;

        LeasedTimestampPoll() {
            super(LeasedTimestampPoll.class);
        }

        @Override
        public boolean putTimestamps(final long recordsAddress, final long timestampsAddress) {
            firstRecord = recordsAddress;
            firstTimestamp = timestampsAddress;
            return timestampsAddress != 0;
        }

        @Override
        protected long leasable() {
            return addressOrZero();
        }

        @Override
        @HotCall
        public int pollUncounted(final long wcAddress, final int maxEntries) {
            final long cq = enterLeased();
            if (cq == 0) {
                return pollUnleased(wcAddress, maxEntries);
            }
            final int result =
                TimestampFunctions.ringpoll_poll_cq_ex(turn(), cq, maxEntries, wcAddress, firstRecord, firstTimestamp);
            leave();
            return result;
        }

        @Override
        public void onHandOver() {
            revoke();
        }

        @HotCall
        private int pollUnleased(final long wcAddress, final int maxEntries) {
            final HotMark mark = calls.enter();
            try {
                calls.lease(this);
                return pollTimestamps(mark, wcAddress, maxEntries, firstRecord, firstTimestamp);
            } finally {
                mark.leave();
            }
        }
    }

    private int pollRecords(final HotMark mark, final long wcAddress, final int maxEntries) {
        final long cq = addressOrZero();
        if (cq == 0 || wcAddress == 0 || maxEntries < 1) {
            return -Errno.EINVAL;
        }
        final CompletionHandover before = handover;
        return before != null && before.isActive() ?
            before.poll((address, most) -> VERBS.ibv_poll_cq(CallTurn.PLAIN, pollFunction, cq, most, address), wcAddress,
                maxEntries) :
            VERBS.ibv_poll_cq(mark.turn(), pollFunction, cq, maxEntries, wcAddress);
    }

    private int pollTimestamps(
        final HotMark mark, final long wcAddress, final int maxEntries, final long firstRecord, final long firstTimestamp) {
        final long cq = addressOrZero();
        return cq == 0 || wcAddress == 0 || maxEntries < 1 ? -Errno.EINVAL : TimestampFunctions.ringpoll_poll_cq_ex(
            mark.turn(), cq, maxEntries, wcAddress, firstRecord, firstTimestamp);
    }

    /**
     * Whether the completions have timestamps.
     *
     * @return true if it was created by {@link #createWithTimestamps}
     */
    public boolean hasTimestamps() {
        return timestamps;
    }

    @Override
    public Object underlying() {
        return viewed == null ? this : viewed.underlying();
    }

    @Override
    public CompletionBudget budget() {
        return budget;
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return event.completionQueueAddress() != 0 && event.completionQueueAddress() == identity();
    }

    /**
     * Sets the budget that polls retire requests of; to be set before the first of these requests is posted. Other threads may
     * poll.
     *
     * @param account of the one queue pair or shared receive queue whose requests complete here; null for none
     */
    public void budget(final CompletionBudget account) {
        budget = account;
    }

    /** Completions to poll before those of the queue; set before another thread polls. Null if the queue is not shared. */
    void handover(final CompletionHandover completions) {
        handover = completions;
    }

    /**
     * Requests one event for the next completion. Poll once more before sleeping: earlier completions raise no event.
     *
     * @param solicitedOnly whether only failed completions and receives of solicited messages raise the event
     * @throws IllegalStateException if the queue is closed
     * @throws VerbsException        with the errno of ibv_req_notify_cq(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_req_notify_cq.3.html">ibv_req_notify_cq(3)</a>
     */
    public void requestNotification(final boolean solicitedOnly) {
        final long cq = enter();
        try {
            final int errno = VERBS.ibv_req_notify_cq(notifyFunction, cq, solicitedOnly ? 1 : 0);
            if (errno != 0) {
                throw new VerbsException("ibv_req_notify_cq", Math.abs(errno));
            }
        } finally {
            exit();
        }
    }

    /**
     * The capacity of the queue.
     *
     * @return entries, at least as many as were asked for
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
     */
    public int capacity() {
        final long cq = enter();
        try {
            return capacity(cq);
        } finally {
            exit();
        }
    }

    /** The capacity of the queue at an address. */
    static int capacity(final long address) {
        return Memory.intAt(address + IbvCq.CQE_OFFSET);
    }

    /**
     * The number of events that were read from the channel and are not acknowledged yet.
     *
     * @return events
     */
    public synchronized int unacknowledgedEvents() {
        return unacknowledged;
    }

    /**
     * Acknowledges all events that were taken from the channel for this queue.
     *
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_cq_event.3.html">ibv_ack_cq_events(3)</a>
     */
    public void acknowledge() {
        final long cq = enter();
        try {
            acknowledge(cq, 1);
        } finally {
            exit();
        }
    }

    /** Counts an event, and acknowledges all once there are as many as a batch. */
    synchronized void count(final long cq, final int batch) {
        unacknowledged++;
        // ibv_destroy_cq in another thread waits for this very event.
        acknowledge(cq, ended ? 1 : batch);
    }

    /** The queue's address, or 0 if it is closed; to compare with the one that an event names. */
    long identity() {
        return addressOrZero();
    }

    /** Enters the queue for a channel that includes it, and returns its address. */
    long enterForChannel() {
        return enter();
    }

    /** Leaves the queue on behalf of a channel. */
    void exitForChannel() {
        exit();
    }

    /** The address of a queue's completion channel; 0 if it has none. The caller is inside the queue. */
    static long channelAddress(final long cq) {
        return Memory.longAt(cq + IbvCq.CHANNEL_OFFSET);
    }

    private synchronized void acknowledgeRest(final long cq) {
        ended = true;
        acknowledge(cq, 1);
    }

    private synchronized void acknowledge(final long cq, final int atLeast) {
        if (unacknowledged >= atLeast) {
            VERBS.ibv_ack_cq_events(cq, unacknowledged);
            unacknowledged = 0;
        }
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected void destroy(final long lastAddress) {
        try {
            // ibv_destroy_cq waits for acknowledgements: without them it would wait forever.
            acknowledgeRest(lastAddress);
            if (created) {
                final int errno = VERBS.ibv_destroy_cq(lastAddress);
                if (errno != 0) {
                    throw new VerbsException("ibv_destroy_cq", Math.abs(errno));
                }
            }
        } finally {
            calls.discard();
        }
    }
}
