package io.ringpoll.internal.poller;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.PollerCounters;
import java.util.Objects;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The counters of a poller, as Agrona counters that any thread or process may read. Each has one writer, which
 * uses release stores, so that a reader can combine several counters: the handlers' threads write those of the paths, one handler
 * those of a path, and the polling thread the others. {@link PollTally} defers some of the stores.
 */
public final class PollerCounterSet implements PollerCounters {
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
    /** Published slots that are no completions. */
    private volatile long publishedFaults;
    private final AtomicCounter[] errorsByStatus = new AtomicCounter[WcStatus.COUNT + 1];

    /**
     * Allocates the counters.
     *
     * @param counters manager that allocates the counters
     * @param owner    name of the poller, for labels and keys
     */
    public PollerCounterSet(final CountersManager counters, final String owner) {
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

    /** Counts a published queue fault; polling thread only. */
    void onFaultPublished() {
        final long faults = publishedFaults + 1;
        publishedFaults = faults;
        published.incrementRelease();
    }

    /** Stores the number of queues, unless the memory of the counters is gone: a removal, for instance, does not depend on it. */
    void onQueues(final int number) {
        try {
            queues.setRelease(number);
            MemoryFault.check();
        } catch (final InternalError truncatedFile) {
            // Not shown any more.
            return;
        }
    }

    /** Counts published batches and their polls. */
    void onBatches(final int number, final int largest) {
        polls.getAndAddRelease(number);
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

    /**
     * Counts completions of the send/write path; the thread of the handler that counts the path.
     *
     * @param number of completions
     */
    public void onSendWrites(final long number) {
        // Without a branch: in small batches it would be mispredicted.
        sendWrites.getAndAddRelease(number);
    }

    /**
     * Counts completions of the receive path; the thread of the handler that counts the path.
     *
     * @param number of completions
     */
    public void onReceives(final long number) {
        receives.getAndAddRelease(number);
    }

    /**
     * Counts completions of the error path; the thread of the handler that counts the path.
     *
     * @param number of completions, each of which is also counted by {@link #onError}
     */
    public void onErrors(final long number) {
        if (number != 0) {
            errors.getAndAddRelease(number);
        }
    }

    /**
     * Counts a failed completion by its status; the thread of the handler that counts the error path.
     *
     * @param status of the completion
     */
    public void onError(final int status) {
        errorsByStatus[status > 0 && status < WcStatus.COUNT ? status : WcStatus.COUNT].incrementRelease();
    }

    @Override
    public long polls() {
        return polls.get();
    }

    @Override
    public long emptyPolls() {
        return emptyPolls.get();
    }

    @Override
    public long completions() {
        return published.get() - publishedFaults;
    }

    @Override
    public long errors() {
        return errors.get();
    }

    @Override
    public long errors(final int status) {
        if (status <= WcStatus.SUCCESS || status >= errorsByStatus.length) {
            throw new IllegalArgumentException("status " + status + " is not that of an error, from 1 to " +
                (errorsByStatus.length - 1));
        }
        return errorsByStatus[status].get();
    }

    @Override
    public long receives() {
        return receives.get();
    }

    @Override
    public long sendWrites() {
        return sendWrites.get();
    }

    @Override
    public long ringFull() {
        return ringFullCycles.get();
    }

    @Override
    public long ringFullStalls() {
        return ringFullStalls.get();
    }

    @Override
    public long ringFullNs() {
        return ringFullNs.get();
    }

    @Override
    public long queueFaults() {
        return queueFaults.get();
    }

    @Override
    public long dutyCycleMaxNs() {
        return dutyCycleMaxNs.get();
    }

    @Override
    public long dutyCyclesOver() {
        return dutyCyclesOver.get();
    }

    @Override
    public long sleeps() {
        return sleeps.get();
    }

    @Override
    public long spuriousWakeups() {
        return spuriousWakeups.get();
    }

    @Override
    public long events() {
        return events.get();
    }

    @Override
    public long budgetDepth() {
        return budgetDepth.get();
    }

    @Override
    public long budgetInFlight() {
        return budgetInFlight.get();
    }

    @Override
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
