package io.ringpoll.poller;

import io.ringpoll.verbs.WcStatus;
import java.util.Objects;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The counters of a poller, as Agrona counters that any thread or process may read.
 *
 * <p>The polling thread is the only writer and uses release stores, so that a reader can combine several counters. Under load the
 * counters of polls, batches and paths lag by at most {@value PollTally#CYCLES} duty cycles. They are exact after an empty round,
 * and when the poller has paused or ended. The position is always exact, as those of the handlers are, and never behind the sum
 * of the paths.
 */
public final class PollerCounters {
    private static final int SIZE_CLASSES = 16;

    final AtomicCounter polls;
    final AtomicCounter emptyPolls;
    final AtomicCounter published;
    final AtomicCounter sendWrites;
    final AtomicCounter receives;
    final AtomicCounter errors;
    final AtomicCounter batchMax;
    final AtomicCounter queues;
    final AtomicCounter queueFaults;
    final AtomicCounter ringFullStalls;
    final AtomicCounter ringFullCycles;
    final AtomicCounter ringFullNs;
    final AtomicCounter dutyCycleMaxNs;
    final AtomicCounter dutyCyclesOver;
    final AtomicCounter arms;
    final AtomicCounter sleeps;
    final AtomicCounter sleepTimeouts;
    final AtomicCounter events;
    final AtomicCounter spuriousWakeups;
    final AtomicCounter budgetDepth;
    final AtomicCounter budgetInFlight;
    final AtomicCounter budgetRefused;

    /** Indexed by {@link #sizeClass}. */
    final AtomicCounter[] batchesBySize = new AtomicCounter[SIZE_CLASSES];
    private final AtomicCounter[] errorsByStatus = new AtomicCounter[WcStatus.COUNT + 1];

    /**
     * Allocates the counters.
     *
     * @param counters manager that allocates the counters
     * @param owner    name of the poller, for labels and keys
     */
    public PollerCounters(final CountersManager counters, final String owner) {
        Objects.requireNonNull(counters, "counters is null");
        Objects.requireNonNull(owner, "the owner is null");
        polls = CounterType.POLLS.allocate(counters, owner);
        emptyPolls = CounterType.EMPTY_POLLS.allocate(counters, owner);
        published = CounterType.PUBLISHED.allocate(counters, owner);
        sendWrites = CounterType.SEND_WRITES.allocate(counters, owner);
        receives = CounterType.RECEIVES.allocate(counters, owner);
        errors = CounterType.ERRORS.allocate(counters, owner);
        batchMax = CounterType.BATCH_MAX.allocate(counters, owner);
        queues = CounterType.QUEUES.allocate(counters, owner);
        queueFaults = CounterType.QUEUE_FAULTS.allocate(counters, owner);
        ringFullStalls = CounterType.RING_FULL_STALLS.allocate(counters, owner);
        ringFullCycles = CounterType.RING_FULL_CYCLES.allocate(counters, owner);
        ringFullNs = CounterType.RING_FULL_NS.allocate(counters, owner);
        dutyCycleMaxNs = CounterType.DUTY_CYCLE_MAX.allocate(counters, owner);
        dutyCyclesOver = CounterType.DUTY_CYCLES_OVER.allocate(counters, owner);
        arms = CounterType.ARMS.allocate(counters, owner);
        sleeps = CounterType.SLEEPS.allocate(counters, owner);
        sleepTimeouts = CounterType.SLEEP_TIMEOUTS.allocate(counters, owner);
        events = CounterType.EVENTS.allocate(counters, owner);
        spuriousWakeups = CounterType.SPURIOUS_WAKEUPS.allocate(counters, owner);
        budgetDepth = CounterType.BUDGET_DEPTH.allocate(counters, owner);
        budgetInFlight = CounterType.BUDGET_IN_FLIGHT.allocate(counters, owner);
        budgetRefused = CounterType.BUDGET_REFUSED.allocate(counters, owner);
        for (int status = 1; status < WcStatus.COUNT; status++) {
            errorsByStatus[status] =
                CounterType.ERRORS_BY_STATUS.allocate(counters, owner, status, "errors, " + WcStatus.name(status));
        }
        errorsByStatus[WcStatus.COUNT] =
            CounterType.ERRORS_BY_STATUS.allocate(counters, owner, WcStatus.COUNT, "errors, status not in the manual");
        for (int i = 0; i < SIZE_CLASSES; i++) {
            batchesBySize[i] = CounterType.BATCHES_BY_SIZE.allocate(counters, owner, 1 << i, sizeLabel(i));
        }
    }

    /** Counts published batches and their polls. */
    void onBatches(final int number, final int completions, final int receiveCount, final int errorCount, final int largest) {
        polls.getAndAddRelease(number);
        final int sendWriteCount = completions - receiveCount - errorCount;
        if (receiveCount != 0) {
            receives.getAndAddRelease(receiveCount);
        }
        if (sendWriteCount != 0) {
            sendWrites.getAndAddRelease(sendWriteCount);
        }
        if (errorCount != 0) {
            errors.getAndAddRelease(errorCount);
        }
        if (largest > batchMax.getPlain()) {
            batchMax.setRelease(largest);
        }
    }

    /** Counts batches by their size class. */
    void onBatchesOf(final int sizeClass, final int number) {
        batchesBySize[sizeClass].getAndAddRelease(number);
    }

    /** Counts empty polls. */
    void onEmptyPolls(final int number) {
        polls.getAndAddRelease(number);
        emptyPolls.getAndAddRelease(number);
    }

    /** The size class of a batch: the largest power of two not above its size, as an exponent. */
    static int sizeClass(final int size) {
        return Math.min(SIZE_CLASSES - 1, Integer.SIZE - 1 - Integer.numberOfLeadingZeros(size));
    }

    /** Counts a failed completion by its status. */
    void onError(final int status) {
        errorsByStatus[status > 0 && status < WcStatus.COUNT ? status : WcStatus.COUNT].incrementRelease();
    }

    /**
     * Number of polls so far. The difference between polls and empty polls is the number of batches.
     *
     * @return polls
     */
    public long polls() {
        return polls.get();
    }

    /**
     * Number of polls so far that found the queue empty.
     *
     * @return polls
     */
    public long emptyPolls() {
        return emptyPolls.get();
    }

    /**
     * Number of completions polled and published so far, on all paths.
     *
     * @return completions
     */
    public long completions() {
        return sendWrites.get() + receives.get() + errors.get();
    }

    /**
     * Number of completions so far whose status was not success.
     *
     * @return completions
     */
    public long errors() {
        return errors.get();
    }

    /**
     * Number of completions so far with a status.
     *
     * @param status a value of {@link WcStatus} other than success
     * @return completions
     */
    public long errors(final int status) {
        return errorsByStatus[status].get();
    }

    /**
     * Number of successful receives so far.
     *
     * @return completions
     */
    public long receives() {
        return receives.get();
    }

    /**
     * Number of successful sends, writes, reads, flushes and atomics so far.
     *
     * @return completions
     */
    public long sendWrites() {
        return sendWrites.get();
    }

    /**
     * Number of duty cycles so far in which polling stopped because the ring was full.
     *
     * @return duty cycles
     */
    public long ringFull() {
        return ringFullCycles.get();
    }

    /**
     * Number of times so far that the ring became full.
     *
     * @return stalls
     */
    public long ringFullStalls() {
        return ringFullStalls.get();
    }

    /**
     * Time so far for which the ring was full.
     *
     * @return nanoseconds
     */
    public long ringFullNs() {
        return ringFullNs.get();
    }

    /**
     * Number of queues so far that failed and left the round.
     *
     * @return queues
     */
    public long queueFaults() {
        return queueFaults.get();
    }

    /**
     * The longest duty cycle so far. A spinning poller measures long duty cycles individually and short ones in windows; the
     * value of a window is its mean.
     *
     * @return nanoseconds; 0 if stalls are not tracked
     */
    public long dutyCycleMaxNs() {
        return dutyCycleMaxNs.get();
    }

    /**
     * Number of duty cycles so far that took longer than the threshold.
     *
     * @return duty cycles; 0 if stalls are not tracked
     */
    public long dutyCyclesOver() {
        return dutyCyclesOver.get();
    }

    /**
     * Number of times so far that the poller slept on completion events.
     *
     * @return sleeps
     */
    public long sleeps() {
        return sleeps.get();
    }

    /**
     * Number of sleeps so far that ended by an event after which all queues were empty.
     *
     * @return sleeps
     */
    public long spuriousWakeups() {
        return spuriousWakeups.get();
    }

    /**
     * Number of completion events taken so far.
     *
     * @return events
     */
    public long events() {
        return events.get();
    }

    /**
     * Sum of the budgets of the polled queues.
     *
     * @return completions
     */
    public long budgetDepth() {
        return budgetDepth.get();
    }

    /**
     * Number of work requests in flight on the polled queues with a budget, as the poller last read it.
     *
     * @return work requests
     */
    public long budgetInFlight() {
        return budgetInFlight.get();
    }

    /**
     * Number of posts that the budgets of the polled queues have refused, as the poller last read it.
     *
     * @return posts
     */
    public long budgetRefused() {
        return budgetRefused.get();
    }

    private static String sizeLabel(final int sizeClass) {
        final int from = 1 << sizeClass;
        if (sizeClass == SIZE_CLASSES - 1) {
            return "batches of " + from + " or more";
        }
        return from == 1 ? "batches of 1" : "batches of " + from + " to " + (2 * from - 1);
    }
}
