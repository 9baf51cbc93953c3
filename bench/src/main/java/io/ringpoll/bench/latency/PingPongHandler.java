package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WorkCompletion;
import org.HdrHistogram.Histogram;

/**
 * Answers each send, or write with immediate data, at both ends of a {@link LinkedPair}, and records half of each round trip; for
 * reads, which do not involve the peer, the whole.
 *
 * <p>Owned by the handler thread, or by one thread for each end; these share no mutable state. {@link #stop()} and the query
 * methods may be called from another thread.
 */
final class PingPongHandler implements CompletionHandler {
    private final LinkedPair pair;
    private final Traffic.Operation operation;
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

    PingPongHandler(final LinkedPair pair, final Traffic.Operation operation, final int sizeBytes, final long fromNs,
        final long untilNs, final long iterations) {
        this.pair = pair;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.clientQueuePair = pair.client().queuePairNumber();
        this.fromNs = fromNs;
        this.lengthNs = untilNs - fromNs;
        this.iterations = iterations;
    }

    /** Posts the first operation; called before the pipeline starts. */
    void serve() {
        sentNs = System.nanoTime();
        postFromClient();
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
                onReturn();
            } else {
                receive(pair.server(), pair.serverMemory());
                postFromServer();
            }
        } else if (completion.opcode() == WcOpcode.RDMA_READ) {
            onReturn();
        }
    }

    private void onReturn() {
        final long nowNs = System.nanoTime();
        if (!done && Long.compareUnsigned(sentNs - fromNs, lengthNs) < 0) {
            histogram.recordValue(isRead() ? nowNs - sentNs : (nowNs - sentNs) / 2);
            if (histogram.getTotalCount() == iterations) {
                done = true;
            }
        }
        if (!isRead()) {
            receive(pair.client(), pair.clientMemory());
        }
        if (stopped) {
            atRest = true;
            return;
        }
        sentNs = System.nanoTime();
        postFromClient();
    }

    private boolean isRead() {
        return operation == Traffic.Operation.READ;
    }

    private void receive(final Connection end, final LocalMemoryRegion memory) {
        if (!end.receive(memory, 0, LinkedPair.MEMORY_BYTES, 0)) {
            failed = true;
        }
    }

    private void postFromClient() {
        post(pair.client(), pair.clientMemory(), pair.serverFromClient());
    }

    private void postFromServer() {
        post(pair.server(), pair.serverMemory(), pair.clientFromServer());
    }

    private void post(final Connection end, final LocalMemoryRegion local, final RemoteMemoryRegion remote) {
        final boolean posted = switch (operation) {
            case SEND -> end.send(local, 0, sizeBytes, CompletionFlag.ALWAYS, 0);
            case WRITE -> end.writeWithImmediate(remote, 0, local, 0, sizeBytes, CompletionFlag.ALWAYS, 0, 0);
            case READ -> end.read(local, 0, remote, 0, sizeBytes, CompletionFlag.ALWAYS, 0);
        };
        if (!posted) {
            failed = true;
        }
    }
}
