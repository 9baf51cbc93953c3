package io.ringpoll.internal.poller;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.QueueFault;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Adds and removes completion queues of a running poller.
 *
 * <p>Thread-safe. Each change is a command that the polling thread executes between two duty cycles, or directly if a handler on
 * the polling thread calls. When {@link #remove} returns, the poller no longer accesses the queue, and the caller may destroy it.
 */
public final class QueueRegistry {
    /** Maximum number of queues of a poller: the index has 16 bits. */
    public static final int MAX_QUEUES = 1 << 16;

    /** Number of names kept of removed queues: the error path may process their faults later. */
    private static final int NAMES_KEPT = 1024;
    private static final long COMMAND_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private final String pollerName;
    private final SlotRing ring;
    private final QueueRound round;
    private final CommandQueue commands;
    private final PollerCounterSet counters;

    /** Guarded by this, as are the following fields. */
    private final Map<CompletionQueue, Registration> registered = new IdentityHashMap<>();
    /** Indexes of the {@link #registered} queues and of the {@link #leaving} ones. */
    private final BitSet taken = new BitSet();
    /** Removed queues with completions that handlers may not have passed yet, in the order of removal. */
    private final ArrayDeque<Leaving> leaving = new ArrayDeque<>();
    /** By index. A name is kept without its queue, which would keep its connection and off-heap memory reachable. */
    private final String[] names = new String[MAX_QUEUES];
    /** Indexes of the most recently removed queues, of which the names are kept. */
    private final ArrayDeque<Integer> left = new ArrayDeque<>(NAMES_KEPT + 1);
    private int nextIndex;
    private final QueueAttachments attachments = new QueueAttachments();
    /** {@link Boolean#TRUE} for each queue whose completions have timestamps. */
    private final QueueAttachments timestamps = new QueueAttachments();
    /** Null unless the poller is event-driven. */
    private RpmaNotifications notifications;

    /** A registered queue, its key in the claims, and the command that removes it. */
    private record Registration(PolledQueue polled, Object claimed, PollerCommand removal) {
        private boolean isRemoved() {
            return removal.isDone();
        }
    }

    /** The index of a removed queue, and the last slot that may contain a completion of it. */
    private record Leaving(int index, long lastSlot) {
    }

    QueueRegistry(
        final String pollerName, final SlotRing ring, final QueueRound round, final CommandQueue commands,
        final PollerCounterSet counters) {
        this.pollerName = pollerName;
        this.ring = ring;
        this.round = round;
        this.commands = commands;
        this.counters = counters;
    }

    /**
     * Adds a queue without an attachment, see {@link #add(CompletionQueue, Object)}.
     *
     * @param queue to be polled by this poller only
     * @return the index that its completions carry
     */
    public int add(final CompletionQueue queue) {
        return add(queue, null);
    }

    /**
     * Adds a queue to the round; the poller polls it from one of its next duty cycles on.
     *
     * @param queue      to be polled by this poller only
     * @param attachment of its completions, or null
     * @return the index that its completions carry; an index is reused only after all other indexes have been used, and after
     *     all completions of its former queue have been passed
     * @throws IllegalStateException if the queue is closed; or it or a view of it has already been added, here or to another
     *     poller that has neither halted nor ended; or if {@link #MAX_QUEUES} queues have been added, or removed with completions
     *     that have not been passed; or if the poller has halted, is stopping or has ended, or it executes no commands
     * @throws NullPointerException  if the queue is null
     */
    public int add(final CompletionQueue queue, final Object attachment) {
        Objects.requireNonNull(queue, "the completion queue to be added is null");
        final PollerState phase = ring.isHalted() ? PollerState.HALTED : commands.phase();
        if (phase.isFinal()) {
            throw notAdded(queue, "the poller " + phase.predicate(), null);
        }
        if (queue.isClosed()) {
            // Its first poll would fail, or another connection may have its descriptors already.
            throw notAdded(queue, "it is closed", null);
        }
        try {
            endEarlier(queue);
        } catch (final TimeoutException busy) {
            throw notAdded(queue, busy.getMessage(), busy);
        }
        final Registration added = register(queue, attachment);
        try {
            // Registered first: a removal by another thread may overtake this command, which then has no effect.
            commands.submitBeforeStop(new PollerCommand(() -> onAdd(added.polled)), Deadline.after(COMMAND_TIMEOUT_NS));
            return added.polled.index;
        } catch (final TimeoutException | IllegalStateException refused) {
            unregister(added);
            throw notAdded(queue, refused.getMessage(), refused);
        }
    }

    /**
     * Removes a queue from the round and waits until the poller no longer accesses it. An interrupt does not end the wait, and
     * the interrupt flag is restored.
     *
     * @param queue     that was added; otherwise the call has no effect
     * @param timeoutNs time to wait for the poller, in nanoseconds; 0 or less to request the removal without waiting
     * @throws TimeoutException as {@link #remove(CompletionQueue, Deadline)}
     */
    public void remove(final CompletionQueue queue, final long timeoutNs) throws TimeoutException {
        remove(queue, Deadline.after(timeoutNs));
    }

    /**
     * Removes a queue from the round and waits until the poller no longer accesses it. An interrupt does not end the wait, and
     * the interrupt flag is restored.
     *
     * @param queue    that was added; otherwise the call has no effect
     * @param deadline of the wait for the poller
     * @throws TimeoutException if the poller did not finish its duty cycle in time; the queue must not be destroyed, and another
     *     call waits again
     */
    public void remove(final CompletionQueue queue, final Deadline deadline) throws TimeoutException {
        Objects.requireNonNull(queue, "the queue to be removed is null");
        Objects.requireNonNull(deadline, "the deadline is null");
        final Registration removed = registration(queue);
        if (removed != null) {
            commands.submit(removed.removal, deadline);
            removed.removal.await(deadline, "remove " + removed.polled.name);
            unregister(removed);
        }
        releasePassed();
    }

    /**
     * Reports the failure of a queue that its owner detected outside of polling, for instance an asynchronous {@code
     * IBV_EVENT_CQ_ERR}: the queue leaves the round and the fault is published on the error path.
     *
     * @param queue that was added; there is no effect if it was not, or has already failed. If it is removed and added again
     *     before the poller executes the report, the new addition is not affected
     * @param code  negative; passed to the error path
     * @throws IllegalArgumentException if the code is not negative
     * @throws IllegalStateException    if the poller executes no commands
     */
    public void reportFault(final CompletionQueue queue, final int code) {
        Objects.requireNonNull(queue, "the failed queue is null");
        if (code >= 0) {
            throw new IllegalArgumentException("fault code " + code + " of " + queue.name() + " is not negative");
        }
        final Registration failed = registration(queue);
        if (failed != null) {
            try {
                commands.submit(new PollerCommand(() -> failed.polled.fail(code)), Deadline.after(COMMAND_TIMEOUT_NS));
            } catch (final TimeoutException stalled) {
                throw new IllegalStateException("the fault of " + failed.polled.name + " cannot be reported: " +
                    stalled.getMessage(), stalled);
            }
        }
    }

    /**
     * Reports the failure of the queues that an {@code IBV_EVENT_CQ_ERR} event names; other events are ignored.
     *
     * @param event of a device with queues that may be polled here
     * @throws IllegalStateException if the poller executes no commands
     */
    public void onEvent(final AsyncEvent event) {
        if (event.type() == AsyncEventType.CQ_ERR) {
            final List<CompletionQueue> all;
            synchronized (this) {
                all = List.copyOf(registered.keySet());
            }
            for (final CompletionQueue queue : all) {
                final int code = faultCode(queue, event);
                if (code != 0) {
                    reportFault(queue, code);
                }
            }
        }
    }

    /** The fault of a queue that an event reports; 0 if it is not about this queue. */
    private int faultCode(final CompletionQueue queue, final AsyncEvent event) {
        try {
            return queue.isSubjectOf(event) ? QueueFault.CQ_ERROR_EVENT : 0;
        } catch (final Throwable thrown) {
            // It may have failed, and the other queues are to be asked, too.
            round.onQueueError(thrown);
            return QueueFault.POLL_THREW;
        }
    }

    /**
     * The name of the current or last queue with an index.
     *
     * @param index that a completion carries
     * @return the queue's name, also after its removal until a thousand other queues have been removed
     */
    public synchronized String name(final int index) {
        final String name = names[index & MAX_QUEUES - 1];
        return name == null ? "completion queue " + index : name;
    }

    /**
     * Number of queues that have been added and not removed.
     *
     * @return queues, including failed ones
     */
    public synchronized int size() {
        return registered.size();
    }

    /**
     * The index of a queue.
     *
     * @param queue that was added
     * @return the index that its completions carry; -1 if it has been removed, or was never added
     */
    public int indexOf(final CompletionQueue queue) {
        Objects.requireNonNull(queue, "the queue is null");
        final Registration added = registration(queue);
        return added == null ? -1 : added.polled.index;
    }

    /**
     * The attachment of the queue of a completion that has not been passed; any thread, without a lock.
     *
     * @param index that the completion carries
     * @return null if the queue has none
     */
    public Object attachment(final int index) {
        return attachments.get(index);
    }

    /**
     * The attachments of all queues, see {@link #attachment}.
     *
     * @return always the same
     */
    public QueueAttachments attachments() {
        return attachments;
    }

    /**
     * Whether a completion that has not been passed has a timestamp; any thread, without a lock.
     *
     * @param index that the completion carries
     * @return true if its queue has timestamps and the ring keeps them
     */
    public boolean hasTimestamps(final int index) {
        return timestamps.get(index) != null;
    }

    /**
     * Releases the indexes and attachments of removed queues of which all completions have been passed. Each addition and removal
     * of a queue does the same.
     */
    public synchronized void releasePassed() {
        Leaving first = leaving.peekFirst();
        while (first != null && ring.isPassed(first.lastSlot)) {
            release(first.index);
            leaving.removeFirst();
            first = leaving.peekFirst();
        }
    }

    /**
     * The queues that have neither been removed nor failed. Only before the poller's start and after its end, when no thread
     * polls them.
     *
     * @return a new list
     * @throws IllegalStateException if the poller is running
     */
    public List<CompletionQueue> remaining() {
        final List<CompletionQueue> remaining = new ArrayList<>();
        commands.guarded(() -> {
            for (int i = 0; i < round.size; i++) {
                if (round.queues[i].faultCode == 0) {
                    remaining.add(round.queues[i].added);
                }
            }
        });
        return remaining;
    }

    /**
     * Polls a queue that the poller did not drain before its end; any thread, while no other thread polls the queue.
     *
     * @param queue      one of {@link #remaining}
     * @param records    as for {@link CompletionQueue#poll}
     * @param first      as for {@link CompletionQueue#poll}
     * @param maxEntries as for {@link CompletionQueue#poll}
     * @return as {@link CompletionQueue#poll}; 0 if the queue has been removed
     * @throws IllegalStateException if the poller is running
     */
    public int pollRemaining(
        final CompletionQueue queue, final WorkCompletions records, final int first, final int maxEntries) {
        Objects.requireNonNull(queue, "the queue to be polled is null");
        Objects.requireNonNull(records, "the records are null");
        final int[] polled = {0};
        // Guarded, so that a removal does not return during the poll.
        commands.guarded(() -> {
            for (int i = 0; i < round.size; i++) {
                if (round.queues[i].added == queue) {
                    polled[0] = queue.poll(records, first, maxEntries);
                }
            }
        });
        return polled[0];
    }

    /** Opens completion channels for queues added from now on; before any queue is added. */
    synchronized void notifying() {
        notifications = new RpmaNotifications(pollerName);
    }

    /** Closes the completion channels; the poller has ended. */
    void onClose() {
        final List<Registration> left;
        synchronized (this) {
            left = List.copyOf(registered.values());
        }
        left.forEach(this::closeView);
    }

    private synchronized Registration registration(final CompletionQueue queue) {
        return registered.get(queue);
    }

    private synchronized Registration register(final CompletionQueue queue, final Object attachment) {
        if (registered.containsKey(queue)) {
            throw new IllegalStateException(queue.name() + " is already polled");
        }
        releasePassed();
        if (registered.size() + leaving.size() == MAX_QUEUES) {
            throw new IllegalStateException("a poller is limited to " + MAX_QUEUES + " completion queues" +
                (leaving.isEmpty() ? "" : ", including " + leaving.size() + " removed ones with completions in the ring"));
        }
        final Object claimed = underlying(queue);
        final QueueClaims.Claim earlier = QueueClaims.claim(claimed, queue, this);
        if (earlier != null) {
            throw earlier.refusal(queue, this);
        }
        try {
            return registerClaimed(queue, claimed, attachment);
        } catch (final RuntimeException | Error failure) {
            QueueClaims.release(claimed, this);
            throw failure;
        }
    }

    private Registration registerClaimed(final CompletionQueue queue, final Object claimed, final Object attachment) {
        while (taken.get(nextIndex)) {
            nextIndex = nextIndex + 1 & MAX_QUEUES - 1;
        }
        final int index = nextIndex;
        final PolledQueue polled = newPolledQueue(queue, index);
        final Registration added = new Registration(polled, claimed, new PollerCommand(() -> onRemove(polled)));
        taken.set(index);
        names[index] = polled.name;
        // Before the queue joins the round, and so before its first completion is published.
        attachments.set(index, attachment);
        timestamps.set(index, polled.putTimestamps(ring) ? Boolean.TRUE : null);
        nextIndex = index + 1 & MAX_QUEUES - 1;
        registered.put(queue, added);
        return added;
    }

    private PolledQueue newPolledQueue(final CompletionQueue queue, final int index) {
        if (notifications == null) {
            return new PolledQueue(queue, queue, index, PolledQueue.NO_EVENT_FD);
        }
        final CompletionQueue view = notifications.open(queue);
        if (!(view instanceof final NotifyingQueue notifying)) {
            return new PolledQueue(queue, view, index, PolledQueue.NO_EVENT_FD);
        }
        final int eventFd = notifying.eventFd();
        if (eventFd < 0) {
            throw notAdded(queue, "the descriptor of its events is " + eventFd, null);
        }
        return new PolledQueue(queue, view, index, eventFd);
    }

    /**
     * Completes a timed-out removal, from this poller or another, that the poller has executed since; and removes the queue from
     * a poller that will never poll again. Ends a claim without a registration, which a stack overflow can leave behind.
     */
    private void endEarlier(final CompletionQueue queue) throws TimeoutException {
        final QueueClaims.Claim claim = QueueClaims.of(underlying(queue));
        final QueueRegistry owner = claim == null ? null : claim.owner();
        final Registration earlier = owner == null ? null : owner.registration(claim.queue());
        if (earlier != null && earlier.isRemoved()) {
            owner.unregister(earlier);
        } else if (earlier != null && owner != this && owner.polledTheLast()) {
            owner.remove(earlier.polled.added, COMMAND_TIMEOUT_NS);
        } else if (earlier == null && owner != null) {
            owner.releaseUnregistered(underlying(queue));
        }
    }

    /** Ends the claim to a queue unless the queue is registered here. */
    private synchronized void releaseUnregistered(final Object claimed) {
        if (registered.values().stream().noneMatch(added -> added.claimed == claimed)) {
            QueueClaims.release(claimed, this);
        }
    }

    private static Object underlying(final CompletionQueue queue) {
        return Objects.requireNonNullElse(queue.underlying(), queue);
    }

    /** Whether the poller has halted or ended. A stopping poller may still poll. */
    private boolean polledTheLast() {
        return ring.isHalted() || commands.phase() == PollerState.ENDED;
    }

    /** The name of the poller. */
    String pollerName() {
        return pollerName;
    }

    /** Removes a queue that the poller no longer accesses from the registry; idempotent. */
    private void unregister(final Registration removed) {
        try {
            // First: a thread that finds the queue unregistered may destroy it.
            closeView(removed);
        } finally {
            synchronized (this) {
                if (registered.remove(removed.polled.added, removed)) {
                    QueueClaims.release(removed.claimed, this);
                    leaving.addLast(new Leaving(removed.polled.index, ring.lastPublished()));
                    releasePassed();
                }
            }
        }
    }

    /** Not under this object's lock, so that a handler that reads a name does not wait. */
    private void closeView(final Registration removed) {
        final RpmaNotifications opened;
        synchronized (this) {
            opened = notifications;
        }
        if (opened != null) {
            opened.close(removed.polled.queue);
        }
    }

    /** Makes an index free again and drops the attachment. */
    private void release(final int index) {
        taken.clear(index);
        attachments.set(index, null);
        timestamps.set(index, null);
        left.addLast(index);
        if (left.size() > NAMES_KEPT) {
            final int forgotten = left.removeFirst();
            if (!taken.get(forgotten)) {
                names[forgotten] = null;
            }
        }
    }

    private void onAdd(final PolledQueue polled) {
        round.add(polled);
        counters.onQueues(round.size);
    }

    private void onRemove(final PolledQueue polled) {
        round.remove(polled);
        // After the end the counter may have been freed, and belong to another part of the program.
        if (commands.phase() != PollerState.ENDED) {
            counters.onQueues(round.size);
        }
    }

    private static IllegalStateException notAdded(final CompletionQueue queue, final String reason, final Exception cause) {
        return new IllegalStateException(queue.name() + " cannot be added: " + reason, cause);
    }
}
