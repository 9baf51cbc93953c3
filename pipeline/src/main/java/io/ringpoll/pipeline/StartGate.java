package io.ringpoll.pipeline;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Where whoever starts a pipeline waits until all its threads are up and pinned, or hears why one is not.
 */
final class StartGate {
    private final List<String> missing = new ArrayList<>();
    private String failedThread;
    private Throwable failure;

    /** Names a thread that will report. */
    synchronized void expect(final String threadName) {
        missing.add(threadName);
    }

    /** Says that the calling thread is ready. */
    synchronized void ready(final String threadName) {
        missing.remove(threadName);
        notifyAll();
    }

    /** Says that the calling thread cannot start; the first one to say so is reported. */
    synchronized void failed(final String threadName, final Throwable cause) {
        if (failure == null) {
            failedThread = threadName;
            failure = cause;
        }
        notifyAll();
    }

    /**
     * Waits for all.
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
