package io.ringpoll.internal.poller;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.verbs.PollTable;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.QueueFault;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Polls completion queues directly into claimed slots of the ring and publishes the completions: the duty cycle of the polling
 * thread. Each duty cycle is one round, in which every queue is polled once. Some are polled again:
 * <ul>
 *   <li>the single queue of a round, while its batches are full and the handlers run on threads of their own, or while it is
 *       empty and the thread spins ({@link QueueRound});</li>
 *   <li>in rounds of more than {@value #LARGE_ROUND} queues, up to {@value RecentQueues#POLLS} queues that had completions
 *       recently, after each {@value RecentQueues#INTERVAL} queues, so that completions of a few busy queues do not wait for the
 *       polls of many empty ones.</li>
 * </ul>
 *
 * <p>{@link #doWork}, {@link #outcome}, {@link #onStart} and {@link #onClose} belong to the thread that runs the agent. The
 * registry, {@link #pause}, {@link #resume} and {@link #awaitEmptyRound} are for other threads; the first three may also be
 * called by handlers that the ring runs on the polling thread. {@link PollerState} defines each call in each state.
 *
 * <p>The duty cycle does not allocate, block, log or throw. A full ring ends the round: the completions stay in their queues, and
 * the next round starts with the first queue that was not polled. A queue whose poll fails leaves the round, and a {@link
 * QueueFault} is published on the error path. Completions are retired from their queue's budget before they are published.
 * The records are not read, except by a budget that must classify them: the provider writes them, the handlers read them.
 */
public final class CompletionPoller extends CompletionPollerHotFields implements Agent {
    long p20;
    long p21;
    long p22;
    long p23;
    long p24;
    long p25;
    long p26;
    long p27;

    /** The largest round in which each queue is polled once. */
    private static final int LARGE_ROUND = 64;
    private static final Outcome[] OUTCOMES = Outcome.values();

    private final String roleName;
    private final SlotRing ring;
    private final UnsafeBuffer slab;
    private final SlabPolls polls;
    private final boolean handlesInPlace;
    private final TimedWork timedWork;
    private final int batchLimit;
    /** Larger rounds are adaptive. */
    private final int largestPlainRound;
    private final PollerCounterSet counters;
    private final PollTally tally;
    private final ErrorHandler errorHandler;
    private final NanoClock clock;
    private final RingStall stall;
    private final QueueRound round = new QueueRound();
    private final CommandQueue commands = new CommandQueue();
    private final QueueRegistry queues;
    private final EmptyRoundWaits waits = new EmptyRoundWaits();
    /** Set before the start. */
    private int emptyPollsOfSingleQueue = 1;
    /** A copy of {@link #paused} for other threads. */
    private volatile boolean pausedCopy;

    /**
     * Creates a poller without queues, for handlers on other threads that stalls are not attributed to; its poll exceptions are
     * dropped, it uses the system clock, and its large rounds are adaptive.
     *
     * @param roleName   of the agent and its thread
     * @param ring       destination of the completions
     * @param batchLimit maximum number of completions taken from one queue in one poll, at least 1
     * @param counters   used by this poller only
     */
    public CompletionPoller(
        final String roleName, final SlotRing ring, final int batchLimit, final PollerCounterSet counters) {
        this(roleName, ring, new RingHandlers() { }, batchLimit, false, counters, error -> { }, SystemNanoClock.INSTANCE);
    }

    /**
     * Creates a poller without queues.
     *
     * @param roleName     of the agent and its thread
     * @param ring         destination of the completions
     * @param handlers     of the ring
     * @param batchLimit   maximum number of completions taken from one queue in one poll, at least 1
     * @param plainRounds  whether rounds of any size poll each queue once, also if few of many queues have completions
     * @param counters     used by this poller only
     * @param errorHandler receives exceptions of tasks, and those that a queue's poll throws in breach of its contract
     * @param clock        measures how long the ring is full, and the duty cycles of a {@link PollerLoop}
     */
    public CompletionPoller(
        final String roleName, final SlotRing ring, final RingHandlers handlers, final int batchLimit,
        final boolean plainRounds, final PollerCounterSet counters, final ErrorHandler errorHandler, final NanoClock clock) {
        if (batchLimit < 1) {
            throw new IllegalArgumentException("batch limit " + batchLimit + " is less than 1");
        }
        this.roleName = Objects.requireNonNull(roleName, "roleName is null");
        this.ring = Objects.requireNonNull(ring, "the ring is null");
        this.slab = ring.slab();
        this.handlesInPlace = Objects.requireNonNull(handlers, "the handlers are null").runInPlace();
        this.timedWork = handlers.timedWork();
        this.batchLimit = batchLimit;
        this.largestPlainRound = plainRounds ? Integer.MAX_VALUE : LARGE_ROUND;
        this.counters = Objects.requireNonNull(counters, "the counters are null");
        this.tally = new PollTally(counters);
        this.errorHandler = Objects.requireNonNull(errorHandler, "errorHandler is null");
        this.polls = new SlabPolls(slab, tally, errorHandler);
        this.clock = Objects.requireNonNull(clock, "the clock is null");
        this.stall = new RingStall(handlers, counters, clock);
        commands.onTaskError(errorHandler);
        round.onQueueError(errorHandler);
        commands.beforeDirect(tally::flush);
        this.queues = new QueueRegistry(roleName, ring, round, commands, counters);
    }

    /** The result of a duty cycle, which determines how the thread idles. */
    public enum Outcome {
        /** Something was published. */
        WORKED,
        /** Every queue was polled and all were empty. */
        EMPTY,
        /** The ring was full, and the rest of the round was left out. */
        RING_FULL,
        /** The poller is paused. */
        PAUSED,
        /** A handler has halted: nothing can be published any more. */
        HALTED
    }

    /**
     * The queues of this poller.
     *
     * @return the registry, always the same instance
     */
    public QueueRegistry queues() {
        return queues;
    }

    /**
     * The outcome of the last duty cycle; polling thread only.
     *
     * @return outcome of the last {@link #doWork}
     */
    public Outcome outcome() {
        return OUTCOMES[outcome];
    }

    /**
     * The state of the poller; any thread.
     *
     * @return a snapshot
     */
    public PollerState state() {
        final PollerState phase = commands.phase();
        if (phase == PollerState.STOPPING || phase == PollerState.ENDED) {
            return phase;
        }
        if (ring.isHalted()) {
            return PollerState.HALTED;
        }
        return phase == PollerState.RUNNING && pausedCopy ? PollerState.PAUSED : phase;
    }

    /**
     * Makes the calling thread the polling thread.
     *
     * @throws IllegalStateException      if the poller has been started before, or has ended
     * @throws io.ringpoll.os.OsException if the poller is event-driven and the process has no free file descriptor; the poller
     *     has then ended
     */
    @Override
    public void onStart() {
        commands.onStart(Thread.currentThread());
        if (round.sleeper != null) {
            try {
                round.sleeper.open();
            } catch (final RuntimeException failed) {
                onClose();
                throw failed;
            }
        }
    }

    /**
     * Makes the calling thread the polling thread, which continues after another one: it executes the commands, and each queue's
     * next poll takes over the calls into C. Ordered by the callers after the last call of the former polling thread.
     */
    public void onHandOver() {
        commands.onHandOver(Thread.currentThread());
        round.onHandOver();
    }

    /**
     * Requests the end: from now on queues and tasks are refused. The thread that runs the agent then calls {@link #onClose}. Any
     * thread.
     */
    public void stop() {
        commands.stop();
    }

    /**
     * Polls every queue once, and some again: the single queue of a round, and in a large round those with recent completions.
     *
     * @return number of completions and faults published; 0 if there was nothing to do or the ring was full
     */
    @Override
    public int doWork() {
        if ((++cycles & PollTally.CYCLES - 1) == 0) {
            doHousekeeping();
        }
        if (commands.hasPending()) {
            // A waiting thread may read the counters after its command.
            tally.flush();
            commands.executePending();
        }
        if (paused) {
            outcome = Outcome.PAUSED.ordinal();
            return 0;
        }
        final int size = round.size;
        if (size == 1) {
            return doSingleQueue();
        }
        return size > largestPlainRound ? doAdaptiveRound(size) : doPlainRound(size);
    }

    /**
     * Does the timed work of the handlers that is due, as one duty cycle in {@value PollTally#CYCLES} does itself: for duty
     * cycles that follow each other slowly. Polling thread, between two of them.
     */
    public void runTimedWork() {
        if (timedWork.isPending()) {
            timedWork.run(clock.nanoTime());
        }
    }

    /**
     * Ends the poller, started or not: executes pending commands and releases its descriptors. A second call has no effect.
     */
    @Override
    public void onClose() {
        try {
            if (stall.isActive()) {
                stall.end();
            }
            tally.flush();
            MemoryFault.check();
        } catch (final Throwable failure) {
            // The memory of the counters is gone: the end does not depend on it.
            errorHandler.onError(failure);
        }
        if (round.sleeper != null) {
            round.sleeper.close();
            round.sleeper = null;
        }
        commands.onClose();
        waits.fail(PollerState.ENDED);
        queues.onClose();
    }

    @Override
    public String roleName() {
        return roleName;
    }

    /**
     * Stops polling until {@link #resume}; completions remain in their queues. A call by a handler on the polling thread takes
     * effect with the next round. Any thread; an interrupt does not end the wait, and the interrupt flag is restored.
     *
     * @param deadline of the wait
     * @throws TimeoutException if the poller has not paused by the deadline; it pauses later
     */
    public void pause(final Deadline deadline) throws TimeoutException {
        final PollerCommand command = new PollerCommand(this::onPause);
        commands.submit(command, deadline);
        command.await(deadline, "pause");
    }

    /**
     * Resumes polling after {@link #pause}. Any thread; an interrupt does not end the wait, and the interrupt flag is restored.
     *
     * @param deadline of the wait
     * @throws TimeoutException if the poller has not resumed by the deadline; it resumes later. Without delay if it has halted,
     *     is stopping or has ended
     */
    public void resume(final Deadline deadline) throws TimeoutException {
        final PollerState state = state();
        if (state.isFinal()) {
            throw new TimeoutException("the poller cannot resume: it " + state.predicate());
        }
        final PollerCommand command = new PollerCommand(this::onResume);
        commands.submit(command, deadline);
        command.await(deadline, "resume");
    }

    /**
     * Whether the poller is paused; any thread.
     *
     * @return a snapshot
     */
    public boolean isPaused() {
        return pausedCopy;
    }

    /**
     * Waits for a round in which the poller has polled every queue and all were empty. Before the poller's start the wait
     * includes the start. Any thread but the polling thread; an interrupt does not end the wait, and the interrupt flag is
     * restored.
     *
     * @param deadline of the wait
     * @throws TimeoutException      if completions kept arriving or the ring stayed full; without delay if the poller is paused,
     *     has halted, is stopping or has ended, before the call or during the wait
     * @throws IllegalStateException on the polling thread, which would wait for itself
     */
    public void awaitEmptyRound(final Deadline deadline) throws TimeoutException {
        if (commands.isPollingThread()) {
            throw new IllegalStateException("the polling thread cannot wait for its own round");
        }
        final PollerCommand empty = new PollerCommand(() -> { });
        commands.submit(new PollerCommand(() -> onEmptyRoundAwaited(empty)), deadline);
        empty.await(deadline, "complete an empty round");
    }

    /**
     * Executes a task on the polling thread between two duty cycles. Any thread, which does not wait; the tasks of a thread are
     * executed in the order of its calls, also relative to additions and removals of queues. An exception of a task is passed to
     * the error handler.
     *
     * @param task executed once; on the thread that ends the poller if that was never started
     * @return true if it will be executed; false if too many are pending
     * @throws java.util.concurrent.RejectedExecutionException if the poller is stopping or has ended
     */
    public boolean execute(final Runnable task) {
        return commands.execute(Objects.requireNonNull(task, "the task is null"));
    }

    /** The command queue of this poller. */
    CommandQueue commands() {
        return commands;
    }

    /** Number of pending waits for an empty round; polling thread, or any thread while none runs the poller. */
    int awaitingEmptyRound() {
        return waits.size();
    }

    /** Makes this poller sleep on completion events; before any queue is added. Returns its idle strategy. */
    EventSleeper sleepOnEvents(final EventDrivenIdle idle) {
        if (round.sleeper != null || queues.size() > 0) {
            throw new IllegalStateException("choose the idle strategy once, before adding queues");
        }
        round.sleeper = new EventSleeper(idle, round, commands, timedWork, counters, tally);
        queues.notifying();
        return round.sleeper;
    }

    /** Polls a single queue several times while it is empty: for a thread that spins. Before the start. */
    void spin() {
        emptyPollsOfSingleQueue = QueueRound.EMPTY_POLLS_OF_SINGLE_QUEUE;
    }

    /** Number of duty cycles so far; polling thread only. */
    long cycles() {
        return cycles;
    }

    PollerCounterSet counters() {
        return counters;
    }

    NanoClock clock() {
        return clock;
    }

    /**
     * Polls the single queue of a round, and again after a full batch or an empty poll.
     *
     * <p>The three kinds of rounds are methods of their own: the JIT compiler optimizes each without the others.
     */
    private int doSingleQueue() {
        final PolledQueue polled = round.queues[0];
        final int changes = round.changes;
        final int limit = batchLimit;
        // A handler on this thread may remove the queue.
        final int mostBatches = handlesInPlace ? 1 : QueueRound.FULL_BATCHES_OF_SINGLE_QUEUE;
        int slots = ring.claim(limit);
        if (slots <= 0) {
            return endWithoutSlots(slots, 0);
        }
        if (stall.isActive()) {
            stall.end();
        }
        int emptyPolls = 0;
        int fullBatches = 0;
        int partial = 0;
        int count = 0;
        try {
            while (slots > 0) {
                final int offset = ring.claimedOffset();
                final long result = polls.pollInTurn(round.table, 0, emptyPollsOfSingleQueue - emptyPolls, offset, slots);
                count = (int) result;
                emptyPolls += PollTable.emptyPolls(result);
                if (count == PollTable.NOT_LEASED) {
                    count = polls.pollAndLease(polled, offset, slots);
                }
                tally.onEmptyPolls(count == 0 ? 1 : 0);
                if (count == 0 && ++emptyPolls < emptyPollsOfSingleQueue && round.changes == changes) {
                    continue;
                } else if (count <= 0) {
                    break;
                }
                if (count == limit) {
                    fullBatches++;
                } else {
                    partial = count;
                }
                // As in publish, in one level of calls less: the JIT compiler inlines a limited number.
                polls.retire(polled, offset, count);
                ring.publish(count, polled.index);
                if (partial != 0 || fullBatches == mostBatches || round.changes != changes) {
                    // Also if a poll of a user's queue removed the queue.
                    break;
                }
                slots = ring.claim(limit);
            }
        } finally {
            tally.onPublished(fullBatches, limit, partial);
        }
        final int published = fullBatches * limit + partial;
        final int workCount = count < 0 ? published + publishFault(polled, ring.claimedOffset(), count) : published;
        if (endsEarly(changes)) {
            round.startAfter(polled, 0);
            return endRound(Math.max(1, workCount));
        }
        return endRound(workCount);
    }

    /** Polls every queue once. */
    private int doPlainRound(final int size) {
        final int[] places = round.places;
        final PollTable table = round.table;
        final int changes = round.changes;
        final int limit = batchLimit;
        int workCount = 0;
        int position = round.first;
        int slots = 0;
        int offset = 0;
        int left = size;
        while (left > 0) {
            // An empty poll leaves its slots to the next one.
            if (slots < limit) {
                slots = ring.claim(limit);
                if (slots <= 0) {
                    round.first = position;
                    return endWithoutSlots(slots, workCount);
                }
                if (stall.isActive()) {
                    stall.end();
                }
                offset = ring.claimedOffset();
            }
            final long result = polls.pollInTurn(table, position, Math.min(left, size - position), offset, slots);
            final int empty = PollTable.emptyPolls(result);
            position += empty;
            left -= empty + 1;
            final int place = places[position];
            int count = (int) result;
            PolledQueue polled = null;
            if (count == PollTable.NOT_LEASED) {
                polled = round.byPlace[place];
                count = polls.pollAndLease(polled, offset, slots);
            }
            if (count == 0) {
                tally.onEmptyPolls(1);
            } else {
                polled = polled == null ? round.byPlace[place] : polled;
                slots = 0;
                workCount += publish(polled, offset, count);
            }
            if (endsEarly(changes)) {
                round.startAfter(polled, position);
                return endRound(Math.max(1, workCount));
            }
            position = position + 1 == size ? 0 : position + 1;
        }
        return endRound(workCount);
    }

    /**
     * Whether a round ends before all queues were polled: a handler on this thread paused this poller; or it, a queue's poll or
     * the error handler added or removed a queue. The remaining queues are left to the next round, and this was not an empty one.
     */
    private boolean endsEarly(final int changes) {
        return round.changes != changes || handlesInPlace && paused;
    }

    /**
     * Polls every queue once, and up to {@value RecentQueues#POLLS} recent queues after each {@value RecentQueues#INTERVAL} of
     * these first polls. The second polls make a round longer by an eighth at most. In a round of n queues a queue is polled at
     * least once and at most 1 + n / {@value RecentQueues#INTERVAL} times, rounded up, each time up to the batch limit.
     */
    private int doAdaptiveRound(final int size) {
        final int[] places = round.places;
        final PollTable table = round.table;
        final RecentQueues recent = round.recent;
        final int changes = round.changes;
        final int limit = batchLimit;
        int workCount = 0;
        int position = round.first;
        int firstPolls = size;
        int secondPolls = 0;
        int slots = 0;
        int offset = 0;
        while (firstPolls > 0 || secondPolls > 0) {
            if (slots < limit) {
                slots = ring.claim(limit);
                if (slots <= 0) {
                    round.first = position;
                    return endWithoutSlots(slots, workCount);
                }
                if (stall.isActive()) {
                    stall.end();
                }
                offset = ring.claimedOffset();
            }
            final boolean isFirst = secondPolls == 0;
            final int place;
            int count;
            if (isFirst) {
                final int most = Math.min(Math.min(firstPolls, size - position), recent.firstPollsLeft());
                final long result = polls.pollInTurn(table, position, most, offset, slots);
                final int empty = PollTable.emptyPolls(result);
                recent.onEmpty(places, position, empty);
                firstPolls -= empty;
                position += empty;
                place = places[position];
                count = (int) result;
            } else {
                place = recent.next();
                count = polls.pollAt(table, place, offset, slots);
            }
            PolledQueue polled = null;
            boolean hasFailed = false;
            if (count == PollTable.NOT_LEASED) {
                polled = round.byPlace[place];
                // A failed queue remains in the round, and among the recent queues, until the end of the duty cycle.
                hasFailed = polled.state == QueueState.FAILED;
                count = hasFailed ? 0 : polls.pollAndLease(polled, offset, slots);
            }
            if (count == 0) {
                tally.onEmptyPolls(hasFailed ? 0 : 1);
                if (isFirst) {
                    recent.onEmpty(place);
                }
            } else {
                polled = polled == null ? round.byPlace[place] : polled;
                slots = 0;
                workCount += publish(polled, offset, count);
                // A handler in place may have removed the queue, and a fault is published like a completion.
                if (polled.state == QueueState.POLLED) {
                    recent.onCompletions(place);
                }
            }
            if (endsEarly(changes)) {
                // Also if no handler runs in place: a removed queue is not polled, and the list may be shorter.
                if (isFirst) {
                    round.startAfter(polled, position);
                }
                return endRound(Math.max(1, workCount));
            }
            if (isFirst) {
                firstPolls--;
                position = position + 1 == size ? 0 : position + 1;
                if (recent.endsInterval()) {
                    secondPolls = recent.group();
                    // For a round that a handler ends during the second polls: removals adjust it.
                    round.first = position;
                }
            } else {
                secondPolls--;
            }
        }
        // Where this round started.
        round.first = position;
        return endRound(workCount);
    }

    private int endRound(final int workCount) {
        if (workCount > 0) {
            outcome = Outcome.WORKED.ordinal();
            removeFailed();
        } else {
            outcome = Outcome.EMPTY.ordinal();
            if (tally.hasBatches()) {
                tally.flush();
            }
            waits.onEmptyRound(ring);
        }
        return workCount;
    }

    /**
     * Publishes what a poll has written into claimed slots.
     *
     * @param offset of the first claimed slot
     * @param count  completions; negative: the poll has failed
     * @return number of completions and faults published
     */
    private int publish(final PolledQueue polled, final int offset, final int count) {
        if (count < 0) {
            return publishFault(polled, offset, count);
        }
        try {
            // Before the publication: handlers post again into the capacity that these completions release.
            polls.retire(polled, offset, count);
            ring.publish(count, polled.index);
        } finally {
            // After the publication, so that handlers do not wait for it; also if an in-place handler throws.
            tally.onPublished(0, batchLimit, count);
        }
        return count;
    }

    /** Work that is not due in every duty cycle. */
    private void doHousekeeping() {
        tally.flush();
        round.sumBudgetsNowAndThen(cycles, counters);
        runTimedWork();
    }

    /** Returns the number of faults published: 0 if the error handler has removed the queue after an exception of its poll. */
    private int publishFault(final PolledQueue polled, final int offset, final int code) {
        if (polled.state == QueueState.REMOVED) {
            return 0;
        }
        polled.fail(code);
        polled.state = QueueState.FAILED;
        failed = true;
        counters.queueFaults.incrementRelease();
        FaultRecord.write(slab, offset, code);
        try {
            ring.publishFault(polled.index);
        } finally {
            counters.onFaultPublished();
        }
        QueueFaultEvent.emit(polled.name, code);
        return 1;
    }

    private int endWithoutSlots(final int claimed, final int workCount) {
        tally.flush();
        if (claimed == SlotRing.HALTED) {
            outcome = Outcome.HALTED.ordinal();
            waits.fail(PollerState.HALTED);
            if (stall.isActive()) {
                stall.end();
            }
        } else {
            outcome = Outcome.RING_FULL.ordinal();
            stall.onFull();
        }
        removeFailed();
        return workCount;
    }

    private void onPause() {
        paused = true;
        pausedCopy = true;
        waits.fail(PollerState.PAUSED);
    }

    private void onResume() {
        paused = false;
        pausedCopy = false;
    }

    private void onEmptyRoundAwaited(final PollerCommand empty) {
        final PollerState state = paused ? PollerState.PAUSED : state();
        if (paused || state.isFinal()) {
            empty.fail(state.predicate());
        } else {
            waits.add(empty);
        }
    }

    private void removeFailed() {
        if (failed) {
            failed = false;
            round.removeFailed();
            counters.onQueues(round.size);
        }
    }
}
