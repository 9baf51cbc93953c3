package io.ringpoll.bench.throughput;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.link.RemoteLink;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Keeps as many operations in flight as requested: posts one when another has completed. A send also needs a posted receive at
 * the server, which reports them by short messages.
 *
 * <p>Owned by the handler thread; {@link #stop()} and the query methods may be called from another thread.
 */
final class SaturatingHandler implements CompletionHandler {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(SaturatingHandler.class, "completed", long.class);
        } catch (final ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final LinkEnd end;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final int depth;
    private int inFlight;
    /** Receives that the server has posted, less the posted sends. */
    private int receives = RemoteLink.SERVER_RECEIVES;
    private long completed;

    private volatile boolean stopped;
    private volatile boolean atRest;
    private volatile boolean failed;

    SaturatingHandler(final LinkEnd end, final Traffic.Operation operation, final int sizeBytes, final int depth) {
        this.end = end;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.depth = depth;
    }

    /** Posts the first operations; called before the pipeline starts. */
    void start() {
        fill();
    }

    /** Posts no more operations. */
    void stop() {
        stopped = true;
    }

    /** The number of completed operations. */
    long completed() {
        return (long) COMPLETED.getAcquire(this);
    }

    /** Whether no operation is in flight after {@link #stop()}. */
    boolean isAtRest() {
        return atRest || failed;
    }

    boolean hasFailed() {
        return failed;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final CompletionPath path = completion.path();
        if (path == CompletionPath.ERROR) {
            failed = true;
            return;
        }
        if (path == CompletionPath.RECEIVE) {
            receives += RemoteLink.CREDIT;
            failed |= !end.receive();
        } else {
            inFlight--;
            COMPLETED.setRelease(this, completed + 1);
        }
        if (!stopped) {
            fill();
        } else if (inFlight == 0) {
            atRest = true;
        }
    }

    private void fill() {
        final boolean isSend = operation == Traffic.Operation.SEND;
        while (inFlight < depth && (!isSend || receives > 0)) {
            if (!post()) {
                failed = true;
                return;
            }
            inFlight++;
            receives -= isSend ? 1 : 0;
        }
    }

    private boolean post() {
        return operation == Traffic.Operation.WRITE ?
            end.connection().write(end.peerMemory(), 0, end.memory(), 0, sizeBytes, true, 0) :
            end.postMessage(operation, sizeBytes);
    }
}
