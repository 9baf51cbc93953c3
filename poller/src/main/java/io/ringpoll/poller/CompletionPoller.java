package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionBudget;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WcStatus;
import io.ringpoll.verbs.WorkCompletions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.agrona.ErrorHandler;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The duty cycle of the polling thread: in each round every completion queue is polled once, straight into claimed slots of the
 * ring, and what came is published.
 *
 * <p>{@link #doWork}, {@link #outcome}, {@link #onStart} and {@link #onClose} belong to the thread that runs the agent; the
 * registry, {@link #pause}, {@link #resume} and {@link #awaitEmptyRound} to any other, the first three also to handlers that the
 * ring runs on the polling thread. {@link PollerState} defines each call in each state.
 *
 * <p>The duty cycle does not allocate, block, log or throw. A full ring ends the round; the completions stay in their queues, and
 * the next round begins with the queue that missed its turn. A queue whose poll fails is taken out of the round and reported on
 * the error path by a {@link QueueFault}. What was polled is retired from a queue's budget before it is published.
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

    /** Duty cycles between two looks at the budgets: what those who post write is not drawn to this core more often. */
    private static final int BUDGET_CYCLES = 1024;

    private static final long SECOND = IbvWc.SIZE_BYTES;
    private static final long THIRD = 2 * SECOND;
    private static final long FOURTH = 3 * SECOND;

    private static final Outcome[] OUTCOMES = Outcome.values();

    private final String roleName;
    private final SlotRing ring;
    private final UnsafeBuffer slab;
    private final long slabAddress;
    /** The slab. */
    private final WorkCompletions records;
    private final boolean handlesInPlace;
    private final int batchLimit;
    private final PollerCounters counters;
    private final PollTally tally;
    private final ErrorHandler errorHandler;
    private final RingStall stall;
    private final QueueFaultEvent faultProbe = new QueueFaultEvent();
    private final QueueRound round = new QueueRound();
    private final CommandQueue commands = new CommandQueue();
    private final QueueRegistry queues;
    private final List<PollerCommand> awaitingEmptyRound = new ArrayList<>();
    /** What {@link #paused} is, for other threads. */
    private volatile boolean pausedSeen;

    /**
     * Creates a poller without queues.
     *
     * @param roleName   of the agent and its thread
     * @param ring       that takes the completions
     * @param batchLimit how many completions of one queue are taken in one round at most, at least 1
     * @param counters   of this poller alone
     */
    public CompletionPoller(
        final String roleName, final SlotRing ring, final int batchLimit, final PollerCounters counters) {
        this(roleName, ring, batchLimit, counters, error -> { }, SystemNanoClock.INSTANCE);
    }

    /**
     * Creates a poller without queues.
     *
     * @param roleName     of the agent and its thread
     * @param ring         that takes the completions
     * @param batchLimit   how many completions of one queue are taken in one round at most, at least 1
     * @param counters     of this poller alone
     * @param errorHandler hears what a queue's poll throws against its contract
     * @param clock        for the time that the ring is full
     */
    public CompletionPoller(
        final String roleName, final SlotRing ring, final int batchLimit, final PollerCounters counters,
        final ErrorHandler errorHandler, final NanoClock clock) {
        if (batchLimit < 1) {
            throw new IllegalArgumentException("batch limit " + batchLimit + " is less than 1");
        }
        this.roleName = roleName;
        this.ring = ring;
        this.slab = ring.slab();
        this.slabAddress = slab.addressOffset();
        this.records = WorkCompletions.in(slab, 0, slab.capacity() / IbvWc.SIZE_BYTES);
        this.handlesInPlace = ring.handlesInPlace();
        this.batchLimit = batchLimit;
        this.counters = counters;
        this.tally = new PollTally(counters);
        this.errorHandler = errorHandler;
        this.stall = new RingStall(ring, counters, clock);
        this.queues = new QueueRegistry(ring, round, commands, counters);
    }

    /** How a duty cycle ended, which decides what the thread does next. */
    public enum Outcome {
        /** Something was published. */
        WORKED,
        /** Every queue was polled and all were empty. */
        EMPTY,
        /** The ring was full, so that some queues were not polled. */
        RING_FULL,
        /** The poller was asked to pause. */
        PAUSED,
        /** A handler has died: nothing can be published any more. */
        HALTED
    }

    /**
     * The queues of this poller.
     *
     * @return the registry, the same at each call
     */
    public QueueRegistry queues() {
        return queues;
    }

    /**
     * How the last duty cycle ended; polling thread only.
     *
     * @return what {@link #doWork} found
     */
    public Outcome outcome() {
        return OUTCOMES[outcome];
    }

    /**
     * The state of the poller; any thread.
     *
     * @return a moment's value
     */
    public PollerState state() {
        final PollerState phase = commands.phase();
        if (phase == PollerState.STOPPING || phase == PollerState.ENDED) {
            return phase;
        }
        if (ring.isHalted()) {
            return PollerState.HALTED;
        }
        return phase == PollerState.RUNNING && pausedSeen ? PollerState.PAUSED : phase;
    }

    /**
     * Makes the calling thread the polling thread.
     *
     * @throws IllegalStateException     if the poller has been started before, or has ended
     * @throws io.ringpoll.os.OsException if the poller sleeps on events and the process has no file descriptor left; the poller
     *     has ended then
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
     * One round over the queues.
     *
     * @return number of completions and faults published; 0 if there was nothing to do, or no room for it
     */
    @Override
    public int doWork() {
        if ((++cycles & PollTally.CYCLES - 1) == 0) {
            keepUp();
        }
        if (commands.hasPending()) {
            // Who waits for it may read the counters then.
            tally.tell();
            commands.executePending();
        }
        if (paused) {
            outcome = Outcome.PAUSED.ordinal();
            return 0;
        }
        final PolledQueue[] polledQueues = round.queues;
        final int size = round.size;
        final int changes = round.changes;
        int workCount = 0;
        int position = round.first;
        for (int left = size; left > 0; left--) {
            final int claimed = ring.claim(batchLimit);
            if (claimed <= 0) {
                round.first = position;
                return endWithoutRoom(claimed, workCount);
            }
            if (stall.isActive()) {
                stall.end();
            }
            final PolledQueue polled = polledQueues[position];
            workCount += poll(polled, claimed);
            if (handlesInPlace && (paused || round.changes != changes)) {
                // A handler has paused this poller, or added or removed a queue: what is left is the next round's.
                round.beginBehind(polled, position);
                break;
            }
            position = position + 1 == size ? 0 : position + 1;
        }
        if (workCount > 0) {
            outcome = Outcome.WORKED.ordinal();
            removeFailed();
        } else {
            outcome = Outcome.EMPTY.ordinal();
            if (tally.hasBatches()) {
                tally.tell();
            }
            completeEmptyRound();
        }
        return workCount;
    }

    /**
     * Ends the poller, started or not: what it opened is closed, and pending commands are executed. A second call has no effect.
     */
    @Override
    public void onClose() {
        if (stall.isActive()) {
            stall.end();
        }
        tally.tell();
        if (round.sleeper != null) {
            round.sleeper.close();
            round.sleeper = null;
        }
        commands.onClose();
        failAwaiting(PollerState.ENDED);
        queues.onClose();
    }

    @Override
    public String roleName() {
        return roleName;
    }

    /**
     * Stops polling until {@link #resume}; completions wait in their queues. Called by a handler on the polling thread, it takes
     * effect with the next round. Any thread; an interrupt does not end the wait and is kept for later.
     *
     * @param deadlineNs by {@link System#nanoTime()}
     * @throws TimeoutException if the poller has not stopped by then; it stops as soon as it can
     */
    public void pause(final long deadlineNs) throws TimeoutException {
        final PollerCommand command = new PollerCommand(this::onPause);
        commands.submit(command, deadlineNs);
        command.await(deadlineNs, "pause");
    }

    /**
     * Polls again after {@link #pause}. Any thread; an interrupt does not end the wait and is kept for later.
     *
     * @param deadlineNs by {@link System#nanoTime()}
     * @throws TimeoutException if the poller has not taken it by then, and does as soon as it can; at once if it has halted, has
     *     been stopped or has ended
     */
    public void resume(final long deadlineNs) throws TimeoutException {
        final PollerState state = state();
        if (state.isFinal()) {
            throw new TimeoutException("the poller cannot resume: it " + state.predicate());
        }
        final PollerCommand command = new PollerCommand(this::onResume);
        commands.submit(command, deadlineNs);
        command.await(deadlineNs, "resume");
    }

    /**
     * Whether the poller has stopped polling by {@link #pause} and not been resumed; any thread.
     *
     * @return a moment's value
     */
    public boolean isPaused() {
        return pausedSeen;
    }

    /**
     * Waits until the poller has polled every queue in one round and found all of them empty. Before the poller's start it waits
     * for that, too. Any thread but the poller's; an interrupt does not end the wait and is kept for later.
     *
     * @param deadlineNs by {@link System#nanoTime()}
     * @throws TimeoutException      if completions kept coming or the ring stayed full; at once if the poller is paused, has
     *     halted, has been stopped or has ended, before or meanwhile
     * @throws IllegalStateException on the polling thread, which would wait for itself
     */
    public void awaitEmptyRound(final long deadlineNs) throws TimeoutException {
        if (commands.isPollingThread()) {
            throw new IllegalStateException("the polling thread cannot wait for a round of its own");
        }
        final PollerCommand empty = new PollerCommand(() -> { });
        commands.submit(new PollerCommand(() -> onEmptyRoundAwaited(empty)), deadlineNs);
        empty.await(deadlineNs, "find all queues empty");
    }

    /** The commands by which other threads reach this poller. */
    CommandQueue commands() {
        return commands;
    }

    /** How many waits for an empty round the poller knows of; polling thread, or any while none runs. */
    int awaitingEmptyRound() {
        return awaitingEmptyRound.size();
    }

    /** Lets a strategy sleep on the events of the queues; before any is added. */
    void sleepBy(final EventDrivenIdle sleeper) {
        if (queues.size() > 0) {
            throw new IllegalStateException("queues are added once the poller's thread has its idle strategy");
        }
        sleeper.attach(round, commands, counters, tally);
        round.sleeper = sleeper;
        queues.notifying();
    }

    /** Duty cycles so far; polling thread only. */
    long cycles() {
        return cycles;
    }

    PollerCounters counters() {
        return counters;
    }

    private int poll(final PolledQueue polled, final int claimed) {
        final int offset = ring.claimedOffset();
        final int count = polled.faultCode == 0 ? poll(polled, offset, claimed) : polled.faultCode;
        if (count > 0) {
            final long errorsAndReceives = mark(offset, count, polled.index);
            final int receives = (int) errorsAndReceives;
            final int errors = (int) (errorsAndReceives >>> Integer.SIZE);
            final CompletionBudget budget = polled.budget;
            if (budget != null) {
                // Before the publication: handlers post into the room that these have left.
                budget.onPolled(count - receives - errors, receives, errors);
            }
            try {
                ring.publish(count);
            } finally {
                // Counted once the handlers have it: they need not wait for that. Also when one that runs in place throws.
                counters.published.getAndAddRelease(count);
                tally.onBatch(count, receives, errors);
            }
            return count;
        }
        if (count == 0) {
            tally.onEmptyPoll();
            return 0;
        }
        publishFault(polled, offset, count);
        return 1;
    }

    private int poll(final PolledQueue polled, final int offset, final int claimed) {
        try {
            return polled.poll(records, offset, claimed);
        } catch (final Throwable thrown) {
            errorHandler.onError(thrown);
            return QueueFault.POLL_THREW;
        }
    }

    /** Marks the slots with their queue's index, and counts receives and errors while they are in this core's cache anyway. */
    private long mark(final int offset, final int count, final short queueIndex) {
        // By addresses: the slots are claimed, and a check of each access would be a third of this loop. Four at a time: the
        // compiler does not unroll it where it has seen small batches, and a record's address costs as much as the record.
        final long first = slabAddress + offset;
        final int foursEnd = count & -4;
        int receives = 0;
        int statuses = 0;
        int i = 0;
        for (; i < foursEnd; i += 4) {
            final long slot = first + i * (long) IbvWc.SIZE_BYTES;
            statuses |= status(slot) | status(slot + SECOND) | status(slot + THIRD) | status(slot + FOURTH);
            receives += receiveBit(slot) + receiveBit(slot + SECOND) + receiveBit(slot + THIRD) + receiveBit(slot + FOURTH);
            mark(slot, queueIndex);
            mark(slot + SECOND, queueIndex);
            mark(slot + THIRD, queueIndex);
            mark(slot + FOURTH, queueIndex);
        }
        for (; i < count; i++) {
            final long slot = first + i * (long) IbvWc.SIZE_BYTES;
            statuses |= status(slot);
            receives += receiveBit(slot);
            mark(slot, queueIndex);
        }
        return statuses == WcStatus.SUCCESS ? receives : countErrors(first, count);
    }

    private static int status(final long slot) {
        return UnsafeApi.getInt(slot + IbvWc.STATUS_OFFSET);
    }

    private static int receiveBit(final long slot) {
        return CompletionPath.receiveBit(UnsafeApi.getInt(slot + IbvWc.OPCODE_OFFSET));
    }

    private static void mark(final long slot, final short queueIndex) {
        UnsafeApi.putShort(slot + IbvWc.QUEUE_INDEX_OFFSET, queueIndex);
    }

    private long countErrors(final long first, final int count) {
        for (int i = 0; i < count; i++) {
            final int status = status(first + i * (long) IbvWc.SIZE_BYTES);
            if (status != WcStatus.SUCCESS) {
                counters.onError(status);
            }
        }
        return CompletionPath.tallyWithErrors(first, count);
    }

    /** What need not be done in each duty cycle. */
    private void keepUp() {
        tally.tell();
        if ((cycles & BUDGET_CYCLES - 1) == 0) {
            round.sumBudgets(counters);
        }
    }

    private void publishFault(final PolledQueue polled, final int offset, final int code) {
        polled.faultCode = code;
        polled.state = QueueState.FAILED;
        failed = true;
        counters.queueFaults.incrementRelease();
        QueueFault.write(slab, offset, polled.index, code);
        try {
            ring.publishFault();
        } finally {
            counters.published.incrementRelease();
        }
        if (faultProbe.isEnabled()) {
            final QueueFaultEvent event = new QueueFaultEvent();
            event.queue = polled.added.name();
            event.code = code;
            event.commit();
        }
    }

    private int endWithoutRoom(final int claimed, final int workCount) {
        tally.tell();
        if (claimed == SlotRing.HALTED) {
            outcome = Outcome.HALTED.ordinal();
            failAwaiting(PollerState.HALTED);
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
        pausedSeen = true;
        failAwaiting(PollerState.PAUSED);
    }

    private void onResume() {
        paused = false;
        pausedSeen = false;
    }

    private void onEmptyRoundAwaited(final PollerCommand empty) {
        final PollerState state = paused ? PollerState.PAUSED : state();
        if (paused || state.isFinal()) {
            empty.fail(state.predicate());
        } else {
            awaitingEmptyRound.removeIf(PollerCommand::isAbandoned);
            awaitingEmptyRound.add(empty);
            emptyRoundAwaited = true;
        }
    }

    private void removeFailed() {
        if (failed) {
            failed = false;
            round.removeFailed();
            counters.queues.setRelease(round.size);
        }
    }

    private void completeEmptyRound() {
        if (emptyRoundAwaited) {
            if (ring.isHalted()) {
                // A round without a queue claims nothing.
                failAwaiting(PollerState.HALTED);
            } else {
                emptyRoundAwaited = false;
                awaitingEmptyRound.forEach(PollerCommand::complete);
                awaitingEmptyRound.clear();
            }
        }
    }

    /** Ends the waits for an empty round, since there will be none in this state. */
    private void failAwaiting(final PollerState state) {
        if (emptyRoundAwaited) {
            emptyRoundAwaited = false;
            awaitingEmptyRound.forEach(waiting -> waiting.fail(state.predicate()));
            awaitingEmptyRound.clear();
        }
    }
}
