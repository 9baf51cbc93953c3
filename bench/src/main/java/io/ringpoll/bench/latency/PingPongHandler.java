package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.link.Link;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import org.HdrHistogram.Histogram;

/**
 * Answers each send, or write with immediate data, at the ends of a {@link Link} in this process, and records half of each round
 * trip; for reads, which do not involve the peer, the whole.
 *
 * <p>Owned by the handler thread, or by one thread for each end; these share no mutable state. {@link #stop()} and the query
 * methods may be called from another thread.
 */
final class PingPongHandler implements CompletionHandler {
    private final LinkEnd client;
    /** Null if it is in another process. */
    private final LinkEnd server;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final int clientQueuePair;
    private final long fromNs;
    private final long lengthNs;
    private final long iterations;
    /** Null if the time of completions is not split. */
    private final CompletionSplit split;
    private final Histogram histogram = new Histogram(3);
    private long sentNs;

    private volatile boolean stopped;
    private volatile boolean done;
    private volatile boolean atRest;
    private volatile boolean failed;

    PingPongHandler(final Link link, final Traffic.Operation operation, final int sizeBytes, final long fromNs,
        final long untilNs, final long iterations, final CompletionSplit split) {
        this.client = link.client();
        this.server = link.ends().size() > 1 ? link.ends().getLast() : null;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.clientQueuePair = client.connection().queuePairNumber();
        this.fromNs = fromNs;
        this.lengthNs = untilNs - fromNs;
        this.iterations = iterations;
        this.split = split;
    }

    /** Posts the first operation; called before the pipeline starts. */
    void serve() {
        sentNs = System.nanoTime();
        post(client);
    }

    /** Posts no more operations after the present one. */
    void stop() {
        stopped = true;
    }

    /** Whether the requested number of round trips has been recorded, or there will be no more. */
    boolean isDone() {
        return done || failed;
    }

    /** Whether no operation is in flight. */
    boolean isAtRest() {
        return atRest || failed;
    }

    boolean hasFailed() {
        return failed;
    }

    /** The recorded latencies; valid after the pipeline has ended. */
    Histogram latencyNs() {
        return histogram;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final CompletionPath path = completion.path();
        if (path == CompletionPath.ERROR) {
            failed = true;
        } else if (path == CompletionPath.RECEIVE) {
            if (completion.queuePairNumber() == clientQueuePair) {
                onReturn(completion, sequence);
            } else {
                receive(server);
                post(server);
            }
        } else if (completion.opcode() == WcOpcode.RDMA_READ) {
            onReturn(completion, sequence);
        }
    }

    private void onReturn(final WorkCompletion completion, final long sequence) {
        final long nowNs = System.nanoTime();
        if (!done && Long.compareUnsigned(sentNs - fromNs, lengthNs) < 0) {
            histogram.recordValue(isRead() ? nowNs - sentNs : (nowNs - sentNs) / 2);
            if (split != null) {
                split.record(completion, sequence, nowNs);
            }
            if (histogram.getTotalCount() == iterations) {
                done = true;
            }
        }
        if (!isRead()) {
            receive(client);
        }
        if (stopped) {
            atRest = true;
            return;
        }
        sentNs = System.nanoTime();
        post(client);
    }

    private boolean isRead() {
        return operation == Traffic.Operation.READ;
    }

    private void receive(final LinkEnd end) {
        if (!end.receive()) {
            failed = true;
        }
    }

    private void post(final LinkEnd end) {
        if (!end.postMessage(operation, sizeBytes)) {
            failed = true;
        }
    }
}
