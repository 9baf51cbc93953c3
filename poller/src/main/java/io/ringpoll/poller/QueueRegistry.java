package io.ringpoll.poller;

import io.ringpoll.verbs.AsyncEvent;
import io.ringpoll.verbs.AsyncEventType;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WorkCompletions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The completion queues of a poller, as other threads add and remove them while it runs.
 *
 * <p>Any thread may call. Each change reaches the poller as a command, between two duty cycles; what a handler on the polling
 * thread itself changes is changed at once. {@link #remove} returns only when the poller can no longer touch the queue, so that
 * the caller may destroy it.
 */
public final class QueueRegistry {
    /** How many queues a poller may have at once: the index has 16 bits. */
    public static final int MAX_QUEUES = 1 << 16;

    /** Names kept of queues that have left: the error path may come to their faults later. */
    private static final int NAMES_KEPT = 1024;
    private static final long COMMAND_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private final SlotRing ring;
    private final QueueRound round;
    private final CommandQueue commands;
    private final PollerCounters counters;

    /** Guarded by this, as what follows. */
    private final Map<CompletionQueue, Registration> registered = new IdentityHashMap<>();
    /** Which indexes {@link #registered} queues have. */
    private final BitSet taken = new BitSet();
    /** By index. Of a queue that has left nothing else is held: it holds its connection, and that what it has off-heap. */
    private final String[] names = new String[MAX_QUEUES];
    /** Indexes of the queues that have left last, whose names are still known. */
    private final ArrayDeque<Integer> left = new ArrayDeque<>(NAMES_KEPT + 1);
    private int nextIndex;
    /** Null if the poller does not sleep on events. */
    private RpmaNotifications notifications;

    /** A queue between its addition and the end of its removal, and the one command that takes it out. */
    private record Registration(PolledQueue polled, PollerCommand removal) {
        private boolean isRemoved() {
            return removal.isDone();
        }
    }

    QueueRegistry(
        final SlotRing ring, final QueueRound round, final CommandQueue commands, final PollerCounters counters) {
        this.ring = ring;
        this.round = round;
        this.commands = commands;
        this.counters = counters;
    }

    /**
     * Adds a queue to the round; the poller polls it from one of its next duty cycles on.
     *
     * @param queue to be polled, by this poller only
     * @return the index that its completions carry; an index is not given again until all others have been
     * @throws IllegalStateException if the queue is there already, {@link #MAX_QUEUES} are, the poller has halted, has been
     *     stopped or has ended, or it takes no commands
     */
    public int add(final CompletionQueue queue) {
        if (ring.isHalted()) {
            throw notAdded(queue, "the poller " + PollerState.HALTED.predicate(), null);
        }
        endRemoval(queue);
        final Registration added = register(queue);
        try {
            // Registered before: a removal by another thread may overtake this command, which has no effect then.
            commands.submitBeforeStop(
                new PollerCommand(() -> onAdd(added.polled)), BoundedWait.deadlineNs(COMMAND_TIMEOUT_NS));
            return added.polled.index & MAX_QUEUES - 1;
        } catch (final TimeoutException | IllegalStateException refused) {
            unregister(added);
            throw notAdded(queue, refused.getMessage(), refused);
        }
    }

    /**
     * Takes a queue out of the round and waits until the poller can no longer touch it. An interrupt does not end the wait; it is
     * kept for later.
     *
     * @param queue     that was added; one that is not in the round is removed already
     * @param timeoutNs how long to wait for the poller, in nanoseconds; if not positive, the poller is asked only
     * @throws TimeoutException if the poller did not finish its duty cycle in time; the queue must not be destroyed then, and a
     *     further call waits again
     */
    public void remove(final CompletionQueue queue, final long timeoutNs) throws TimeoutException {
        final long deadlineNs = BoundedWait.deadlineNs(timeoutNs);
        final Registration leaving = registration(queue);
        if (leaving != null) {
            commands.submit(leaving.removal, deadlineNs);
            leaving.removal.await(deadlineNs, "let go of " + queue.name());
            unregister(leaving);
        }
    }

    /**
     * Reports that a queue has failed by what its owner has heard outside of polling, for instance an asynchronous
     * {@code IBV_EVENT_CQ_ERR}: it leaves the round and the error path hears of it.
     *
     * @param queue that was added; nothing happens if it has not been added or has failed already. If it is removed and added
     *     again before the poller takes the report, the report has no effect on the new addition
     * @param code  negative; handed to the error path
     * @throws IllegalArgumentException if the code is not negative
     * @throws IllegalStateException    if the poller takes no commands
     */
    public void reportFault(final CompletionQueue queue, final int code) {
        if (code >= 0) {
            throw new IllegalArgumentException("fault code " + code + " of " + queue.name() + " is not negative");
        }
        final Registration failed = registration(queue);
        if (failed != null) {
            try {
                commands.submit(
                    new PollerCommand(() -> failed.polled.fail(code)), BoundedWait.deadlineNs(COMMAND_TIMEOUT_NS));
            } catch (final TimeoutException stalled) {
                throw new IllegalStateException("the fault of " + queue.name() + " cannot be reported: " +
                    stalled.getMessage(), stalled);
            }
        }
    }

    /**
     * Takes the queues out that a device's event says have failed; other events are none of the poller's business.
     *
     * @param event of a device whose queues may be polled here
     * @throws IllegalStateException if the poller takes no commands
     */
    public void onEvent(final AsyncEvent event) {
        if (event.type() == AsyncEventType.CQ_ERR) {
            final List<CompletionQueue> failed;
            synchronized (this) {
                failed = registered.keySet().stream().filter(queue -> queue.isSubjectOf(event)).toList();
            }
            failed.forEach(queue -> reportFault(queue, QueueFault.CQ_ERROR_EVENT));
        }
    }

    /**
     * The name of the queue that had or has an index.
     *
     * @param index that a completion carries
     * @return the queue's name, also after its removal, unless a thousand others have been removed since
     */
    public synchronized String name(final int index) {
        final String name = names[index & MAX_QUEUES - 1];
        return name == null ? "completion queue " + index : name;
    }

    /**
     * Number of queues that have been added and not removed.
     *
     * @return queues, failed ones included
     */
    public synchronized int size() {
        return registered.size();
    }

    /**
     * The queues that have neither been removed nor failed; only before the poller has started and after it has ended, when
     * nobody polls them.
     *
     * @return a new list
     * @throws IllegalStateException if the poller runs
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
     * Polls a queue that the poller has left behind when it ended; any thread, while no other thread polls the queue.
     *
     * @param queue      one of {@link #remaining}
     * @param records    as for {@link CompletionQueue#poll}
     * @param first      as for {@link CompletionQueue#poll}
     * @param maxEntries as for {@link CompletionQueue#poll}
     * @return as {@link CompletionQueue#poll}; 0 if the queue has been removed
     * @throws IllegalStateException if the poller runs
     */
    public int pollRemaining(
        final CompletionQueue queue, final WorkCompletions records, final int first, final int maxEntries) {
        final int[] polled = {0};
        // Under the guard, so that a removal does not return while the queue is polled.
        commands.guarded(() -> {
            for (int i = 0; i < round.size; i++) {
                if (round.queues[i].added == queue) {
                    polled[0] = queue.poll(records, first, maxEntries);
                }
            }
        });
        return polled[0];
    }

    /** From now on queues that are added are made ready to notify; before any is. */
    synchronized void notifying() {
        notifications = new RpmaNotifications();
    }

    /** Gives back what was opened to be notified; the poller has ended. */
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

    private synchronized Registration register(final CompletionQueue queue) {
        if (registered.containsKey(queue)) {
            throw new IllegalStateException(queue.name() + " is polled already");
        }
        if (registered.size() == MAX_QUEUES) {
            throw new IllegalStateException("a poller has room for " + MAX_QUEUES + " completion queues");
        }
        while (taken.get(nextIndex)) {
            nextIndex = nextIndex + 1 & MAX_QUEUES - 1;
        }
        final int index = nextIndex;
        final PolledQueue polled = newPolledQueue(queue, index);
        final Registration added = new Registration(polled, new PollerCommand(() -> onRemove(polled)));
        taken.set(index);
        names[index] = queue.name();
        nextIndex = index + 1 & MAX_QUEUES - 1;
        registered.put(queue, added);
        return added;
    }

    private PolledQueue newPolledQueue(final CompletionQueue queue, final int index) {
        if (notifications == null) {
            return new PolledQueue(queue, queue, index, PolledQueue.NO_EVENT_FD);
        }
        final CompletionQueue view = notifications.open(queue);
        final int eventFd = view instanceof final NotifyingQueue notifying ? notifying.eventFd() : PolledQueue.NO_EVENT_FD;
        return new PolledQueue(queue, view, index, eventFd);
    }

    /** Completes a removal whose caller did not wait for the poller, if the poller has let go of the queue since. */
    private void endRemoval(final CompletionQueue queue) {
        final Registration earlier = registration(queue);
        if (earlier != null && earlier.isRemoved()) {
            unregister(earlier);
        }
    }

    /** Forgets a queue that the poller does not touch any more; nothing happens if another thread has done so. */
    private void unregister(final Registration leaving) {
        try {
            // Before the queue is forgotten: whoever finds it gone may destroy it.
            closeView(leaving);
        } finally {
            synchronized (this) {
                if (registered.remove(leaving.polled.added, leaving)) {
                    leave(leaving.polled.index & MAX_QUEUES - 1);
                }
            }
        }
    }

    /** Not under the lock of this: a handler that asks for a name does not wait for it. */
    private void closeView(final Registration leaving) {
        final RpmaNotifications opened;
        synchronized (this) {
            opened = notifications;
        }
        if (opened != null) {
            opened.close(leaving.polled.queue);
        }
    }

    private void leave(final int index) {
        taken.clear(index);
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
        counters.queues.setRelease(round.size);
    }

    private void onRemove(final PolledQueue polled) {
        round.remove(polled);
        counters.queues.setRelease(round.size);
    }

    private static IllegalStateException notAdded(final CompletionQueue queue, final String reason, final Exception cause) {
        return new IllegalStateException(queue.name() + " cannot be added: " + reason, cause);
    }
}
