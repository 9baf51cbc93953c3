package io.ringpoll.bench.latency;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WorkCompletion;
import org.HdrHistogram.Histogram;

/**
 * Answers each message at both ends of a {@link LinkedPair}, and records half of each round trip.
 *
 * <p>Belongs to the handler's thread; {@link #stop()} and the questions may come from another.
 */
final class PingPongHandler implements CompletionHandler {
    private final LinkedPair pair;
    private final int sizeBytes;
    private final int clientQueuePair;
    private final long fromNs;
    private final long lengthNs;
    private final long iterations;
    private final Histogram histogram = new Histogram(3);
    private long sentNs;

    private volatile boolean stopped;
    private volatile boolean done;
    private volatile boolean atRest;
    private volatile boolean failed;

    PingPongHandler(
        final LinkedPair pair, final int sizeBytes, final long fromNs, final long untilNs, final long iterations) {
        this.pair = pair;
        this.sizeBytes = sizeBytes;
        this.clientQueuePair = pair.client().queuePairNumber();
        this.fromNs = fromNs;
        this.lengthNs = untilNs - fromNs;
        this.iterations = iterations;
    }

    /** Sends the first message; before the pipeline starts. */
    void serve() {
        sentNs = System.nanoTime();
        send(pair.client(), pair.clientMemory());
    }

    /** Sends no more messages after the present one. */
    void stop() {
        stopped = true;
    }

    /** Whether as many round trips have been recorded as were asked for, or there will be no more. */
    boolean isDone() {
        return done || failed;
    }

    /** Whether no message is on its way. */
    boolean isAtRest() {
        return atRest || failed;
    }

    boolean hasFailed() {
        return failed;
    }

    /** Halves of round trips; to be read when the pipeline has ended. */
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
                onReturn();
            } else {
                receive(pair.server(), pair.serverMemory());
                send(pair.server(), pair.serverMemory());
            }
        }
    }

    private void onReturn() {
        final long nowNs = System.nanoTime();
        if (!done && Long.compareUnsigned(sentNs - fromNs, lengthNs) < 0) {
            histogram.recordValue((nowNs - sentNs) / 2);
            if (histogram.getTotalCount() == iterations) {
                done = true;
            }
        }
        receive(pair.client(), pair.clientMemory());
        if (stopped) {
            atRest = true;
            return;
        }
        sentNs = System.nanoTime();
        send(pair.client(), pair.clientMemory());
    }

    private void receive(final Connection end, final LocalMemoryRegion memory) {
        if (!end.receive(memory, 0, LinkedPair.MEMORY_BYTES, 0)) {
            failed = true;
        }
    }

    private void send(final Connection end, final LocalMemoryRegion memory) {
        if (!end.send(memory, 0, sizeBytes, CompletionFlag.ALWAYS, 0)) {
            failed = true;
        }
    }
}
