package io.ringpoll.verify.run;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.poller.QueueFault;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;

/**
 * The handler of one path: finds the work request of each completion in the ledger, verifies it, and records its latency.
 *
 * <p>Used by one handler thread; any thread may read the counts, and the histogram after that thread has ended. Allocates
 * nothing.
 */
final class PathAccount implements CompletionHandler {
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(1);
    private static final int SIGNIFICANT_DIGITS = 3;

    private final CompletionPath path;
    private final Ledger ledger;
    private final Predicate<String> onFailedPoll;

    /**
     * The recorder of latencies; replaced by the main thread after the warm-up, because a branch would be eliminated by the
     * compiler.
     */
    private volatile Histogram latencyNs = newHistogram();

    /** Written by the handler thread only. */
    private final AtomicLong completed = new AtomicLong();
    private final AtomicLong duplicated = new AtomicLong();
    private final AtomicLong misrouted = new AtomicLong();
    private final AtomicLong corrupted = new AtomicLong();
    private volatile String firstComplaint;

    /**
     * Creates a handler with empty counts.
     *
     * @param path         its path
     * @param ledger       ledger of all work requests
     * @param onFailedPoll receives a queue with a failed poll; false if that is an error
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
        final boolean isPolled = code != QueueFault.CQ_ERROR_EVENT && onFailedPoll.test(queueName);
        if (!isPolled && firstComplaint == null) {
            firstComplaint = queueName + " failed with code " + code + " and is not polled any more";
        }
    }

    /** The handler thread is the only writer: a plain read and an ordered write are enough. */
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

    /** Discards the latencies of the warm-up. Any thread. */
    void startMeasurement() {
        latencyNs = newHistogram();
    }

    /**
     * Starts a new histogram and returns the previous one, to which the handler may still add one latency. One thread at a time.
     */
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

    /** Completions on the wrong path. */
    long misrouted() {
        return misrouted.get();
    }

    /** Payloads that differ from the sent ones. */
    long corrupted() {
        return corrupted.get();
    }

    /** The first error, or null. */
    String firstComplaint() {
        return firstComplaint;
    }

    /** Latencies from post to handler, without the warm-up unless there is nothing else; after the handler thread has ended. */
    Histogram latencyNs() {
        return latencyNs;
    }
}
