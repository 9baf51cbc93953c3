package io.ringpoll.verify.run;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WcStatus;
import io.ringpoll.verbs.WorkCompletion;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;

/**
 * The handler of one path: finds each completion's work request in the ledger, checks it, and records its latency.
 *
 * <p>One thread handles; any thread may read the counts, and the histogram after that thread has ended. Allocates nothing.
 */
final class PathAccount implements CompletionHandler {
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(1);
    private static final int SIGNIFICANT_DIGITS = 3;

    private final CompletionPath path;
    private final Ledger ledger;
    private final Predicate<String> onFailedPoll;

    /** Where latencies go; changed by the main thread when the warm-up is over. A branch there would be compiled away first. */
    private volatile Histogram latencyNs = newHistogram();

    /** Written by the handler's thread alone. */
    private final AtomicLong completed = new AtomicLong();
    private final AtomicLong duplicated = new AtomicLong();
    private final AtomicLong misrouted = new AtomicLong();
    private final AtomicLong corrupted = new AtomicLong();
    private volatile String firstComplaint;

    /**
     * Creates a handler that has handled nothing.
     *
     * @param path         that it handles
     * @param ledger       of all work requests
     * @param onFailedPoll hears of a queue whose poll has failed; false if that is wrong
     */
    PathAccount(final CompletionPath path, final Ledger ledger, final Predicate<String> onFailedPoll) {
        this.path = path;
        this.ledger = ledger;
        this.onFailedPoll = onFailedPoll;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final long workRequestId = completion.workRequestId();
        final int slot = ledger.find(workRequestId);
        if (slot < 0) {
            count(duplicated);
            return;
        }
        final OperationKind kind = ledger.kind(slot);
        final SlotOwner owner = ledger.owner(slot);
        final boolean routed = path == kind.path() ||
            path == CompletionPath.ERROR && owner.expectsError(slot, completion);
        if (!routed) {
            complain(kind, completion);
        } else if (path != CompletionPath.ERROR && !owner.onCompleted(slot, completion)) {
            count(corrupted);
        }
        final long elapsedNs = System.nanoTime() - ledger.postTimeNs(slot);
        if (!ledger.close(slot, workRequestId)) {
            count(duplicated);
            return;
        }
        if (routed) {
            count(completed);
        }
        latencyNs.recordValue(Math.min(elapsedNs, LONGEST_NS));
        owner.onClosed(slot, completion);
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        final boolean goesOn = code != QueueFault.CQ_ERROR_EVENT && onFailedPoll.test(queueName);
        if (!goesOn && firstComplaint == null) {
            firstComplaint = queueName + " failed with code " + code + " and is polled no more";
        }
    }

    /** The handler's thread is the only writer: a plain read and an ordered write are enough. */
    private static void count(final AtomicLong counter) {
        counter.setRelease(counter.getPlain() + 1);
    }

    private void complain(final OperationKind kind, final WorkCompletion completion) {
        count(misrouted);
        if (firstComplaint == null) {
            firstComplaint = kind + " of queue pair " + completion.queuePairNumber() + " ended on the " + path +
                " path with " + WcStatus.name(completion.status()) + ", vendor error " + completion.vendorError();
        }
    }

    /** The warm-up is over: what was recorded before is thrown away. Any thread. */
    void startMeasurement() {
        latencyNs = newHistogram();
    }

    /** Begins a new histogram and returns the one before, to which the handler may still add one latency. Any one thread. */
    Histogram exchangeLatency() {
        final Histogram before = latencyNs;
        latencyNs = newHistogram();
        return before;
    }

    static Histogram newHistogram() {
        return new Histogram(LONGEST_NS, SIGNIFICANT_DIGITS);
    }

    CompletionPath path() {
        return path;
    }

    /** Completions that closed a work request of this path. */
    long completed() {
        return completed.get();
    }

    /** Completions for which no work request was open. */
    long duplicated() {
        return duplicated.get();
    }

    /** Completions that should have come on another path. */
    long misrouted() {
        return misrouted.get();
    }

    /** Payloads that were not what had been sent. */
    long corrupted() {
        return corrupted.get();
    }

    /** What went wrong first, or null. */
    String firstComplaint() {
        return firstComplaint;
    }

    /** From post to handler, without the warm-up unless nothing came after it; after the handler's thread has ended. */
    Histogram latencyNs() {
        return latencyNs;
    }
}
