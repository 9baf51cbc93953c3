package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The end of a pipeline, in order: queues drained, poller stopped, handlers through, what is left counted, memory given back.
 *
 * <p>Any thread may call; one at a time does the work, and the others wait for it within their own bounds.
 */
final class PipelineStop {
    private static final long PARK_NS = 50_000;
    private static final int LEFT_OVER_BATCH = 64;
    private static final long MAX_LEFT_OVER = 1 << 20;

    private final Pipeline pipeline;
    private final Consumer<WorkCompletion> leftOver;
    private final long shutdownTimeoutNs;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile PipelineReport report;
    private Thread shutdownHook;

    PipelineStop(final Pipeline pipeline, final Consumer<WorkCompletion> leftOver, final long shutdownTimeoutNs) {
        this.pipeline = pipeline;
        this.leftOver = leftOver;
        this.shutdownTimeoutNs = shutdownTimeoutNs;
    }

    /** From now on the end of the JVM ends the pipeline in order. */
    void onStarted() {
        if (shutdownTimeoutNs > 0) {
            shutdownHook = new Thread(() -> close(shutdownTimeoutNs, true), pipeline.name() + "-shutdown");
            try {
                Runtime.getRuntime().addShutdownHook(shutdownHook);
            } catch (final IllegalStateException shuttingDown) {
                shutdownHook = null;
            }
        }
    }

    /** Ends the threads of a pipeline that did not start as a whole. */
    void abandon() {
        pipeline.polling().stop();
        pipeline.handlers().stopAfter(-1);
        join(System.nanoTime() + TimeUnit.SECONDS.toNanos(1));
        pipeline.polling().closeUnlessStarted();
        pipeline.slab().release();
        pipeline.counters().close();
    }

    /** Waits until the queues are empty and what was polled has been handled. */
    PipelineReport drain(final long deadlineNs) {
        boolean inTime = true;
        if (Thread.currentThread() == pipeline.pollerThread()) {
            // A handler there keeps the poller from coming round.
            inTime = false;
        } else if (pipeline.failure() == null && report == null && !pipeline.poller().isPaused()) {
            try {
                pipeline.poller().awaitEmptyRound(deadlineNs);
            } catch (final TimeoutException late) {
                inTime = false;
            }
        }
        final long last = pipeline.handlers().ring().cursor().get();
        while (!pipeline.handlers().haveOthersPassed(last)) {
            if (System.nanoTime() - deadlineNs >= 0 || pipeline.failure() != null) {
                inTime = false;
                break;
            }
            park();
        }
        return snapshot(PipelineReport.UNKNOWN, inTime);
    }

    /** Ends the pipeline. */
    PipelineReport close(final long timeoutNs, final boolean drainFirst) {
        if (report != null) {
            return report;
        }
        if (isOwnThread(Thread.currentThread())) {
            final Thread closer = new Thread(() -> close(timeoutNs, drainFirst), pipeline.name() + "-closer");
            closer.setDaemon(true);
            closer.start();
            return snapshot(PipelineReport.UNKNOWN, false);
        }
        final long deadlineNs = System.nanoTime() + timeoutNs;
        if (!tryLock(timeoutNs)) {
            return snapshot(PipelineReport.UNKNOWN, false);
        }
        try {
            if (report == null) {
                if (drainFirst) {
                    drain(System.nanoTime() + timeoutNs / 2);
                }
                report = end(deadlineNs);
            }
            return report;
        } finally {
            lock.unlock();
        }
    }

    private PipelineReport end(final long deadlineNs) {
        pipeline.polling().stop();
        final boolean pollerEnded = join(pipeline.polling().thread(), deadlineNs);
        pipeline.handlers().stopAfter(pipeline.handlers().ring().cursor().get());
        boolean handlersEnded = true;
        for (final Thread thread : pipeline.handlerThreads()) {
            handlersEnded &= join(thread, deadlineNs);
        }
        while (pipeline.held() > 0 && System.nanoTime() - deadlineNs < 0) {
            park();
        }
        final long inQueues = pollerEnded ? takeLeftOver() : PipelineReport.UNKNOWN;
        final PipelineReport result = snapshot(inQueues, pollerEnded && handlersEnded && pipeline.held() == 0);
        PipelineEvent.emit(pipeline.name(), "stopped", result.toString());
        removeShutdownHook();
        pipeline.slab().release();
        pipeline.counters().close();
        return result;
    }

    private long takeLeftOver() {
        long count = 0;
        try (Arena arena = Arena.ofConfined()) {
            final long address = arena.allocate((long) LEFT_OVER_BATCH * IbvWc.SIZE_BYTES, Long.BYTES).address();
            final UnsafeBuffer buffer = new UnsafeBuffer(address, LEFT_OVER_BATCH * IbvWc.SIZE_BYTES);
            final WorkCompletion completion = new WorkCompletion().wrap(buffer, 0);
            for (final CompletionQueue queue : pipeline.poller().queues().remaining()) {
                int polled = queue.poll(address, LEFT_OVER_BATCH);
                while (polled > 0 && count < MAX_LEFT_OVER) {
                    for (int i = 0; i < polled; i++) {
                        leftOver.accept(completion.moveTo(i * IbvWc.SIZE_BYTES));
                    }
                    count += polled;
                    polled = queue.poll(address, LEFT_OVER_BATCH);
                }
            }
        }
        return count;
    }

    private PipelineReport snapshot(final long inQueues, final boolean inTime) {
        final long polled = pipeline.handlers().ring().cursor().get() + 1;
        return new PipelineReport(polled, polled - pipeline.handlers().ring().occupancy(), pipeline.held(), inQueues, inTime);
    }

    private boolean isOwnThread(final Thread thread) {
        return thread == pipeline.pollerThread() || pipeline.handlerThreads().contains(thread);
    }

    private boolean tryLock(final long timeoutNs) {
        try {
            return lock.tryLock(timeoutNs, TimeUnit.NANOSECONDS);
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return lock.tryLock();
        }
    }

    private void join(final long deadlineNs) {
        join(pipeline.pollerThread(), deadlineNs);
        pipeline.handlerThreads().forEach(thread -> join(thread, deadlineNs));
    }

    /** Waits for a thread to end; an interrupt of the caller is kept for later, since half a stop helps nobody. */
    private static boolean join(final Thread thread, final long deadlineNs) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            final long leftNs = deadlineNs - System.nanoTime();
            if (leftNs <= 0) {
                break;
            }
            try {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs)));
            } catch (final InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    private void removeShutdownHook() {
        if (shutdownHook != null && shutdownHook != Thread.currentThread()) {
            try {
                Runtime.getRuntime().removeShutdownHook(shutdownHook);
            } catch (final IllegalStateException shuttingDown) {
                // It runs already, and finds the report.
            }
        }
    }

    private static void park() {
        LockSupport.parkNanos(PARK_NS);
    }
}
