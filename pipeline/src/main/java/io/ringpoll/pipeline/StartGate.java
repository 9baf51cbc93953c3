package io.ringpoll.pipeline;

import io.ringpoll.internal.os.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Blocks the start of a pipeline until all its threads run and are pinned, or one has failed to start.
 */
final class StartGate {
    private final List<String> missing = new ArrayList<>();
    private String failedThread;
    private Throwable failure;

    /** Registers a thread that will report. */
    synchronized void expect(final String threadName) {
        missing.add(threadName);
    }

    /** Reports that the calling thread is ready. */
    synchronized void ready(final String threadName) {
        missing.remove(threadName);
        notifyAll();
    }

    /** Reports that the calling thread cannot start; the first failure is kept. */
    synchronized void failed(final String threadName, final Throwable cause) {
        if (failure == null) {
            failedThread = threadName;
            failure = cause;
        }
        notifyAll();
    }

    /**
     * Waits for all registered threads.
     *
     * @throws PipelineStartException if one has failed or did not report in time, or the caller is interrupted
     */
    synchronized void await(final Deadline deadline) {
        while (failure == null && !missing.isEmpty()) {
            final long leftNs = deadline.leftNs();
            if (leftNs == 0) {
                throw new PipelineStartException(
                    "threads " + String.join(", ", missing) + " did not start within " + deadline.timeout(), null);
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, leftNs);
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new PipelineStartException("interrupted while threads " + String.join(", ", missing) + " started", null);
            }
        }
        if (failure != null) {
            throw new PipelineStartException(
                "thread " + failedThread + " did not start: " + ErrorRecorder.describe(failure), failure);
        }
    }
}
