package io.ringpoll.pipeline;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.os.JvmShutdown;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts and ends a pipeline: one thread at a time, while others wait within their own time-outs.
 *
 * <p>The end, in order: the queues are drained, the poller ends, the handlers finish the published completions and end,
 * completions left in the queues are counted, and the memory is released. {@link PipelineState} defines each call in each state.
 */
final class PipelineStop {
    private static final long ABANDON_NS = TimeUnit.SECONDS.toNanos(1);

    private final Pipeline pipeline;
    private final LifeCycle lifeCycle;
    private final UndeliveredCompletions undelivered;
    private final long shutdownTimeoutNs;
    /** Held during the start and during the end of the pipeline. */
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicBoolean closesElsewhere = new AtomicBoolean();
    /** Number of handlers that drain on their own threads. */
    private final AtomicInteger drainingHandlers = new AtomicInteger();
    private volatile boolean requested;
    /** Set before the state becomes STOPPING. */
    private volatile boolean closedByShutdown;
    private volatile PipelineReport report;
    /** Guarded by the lock. */
    private Thread shutdownHook;

    PipelineStop(
        final Pipeline pipeline, final LifeCycle lifeCycle, final UndeliveredCompletions undelivered,
        final long shutdownTimeoutNs) {
        this.pipeline = pipeline;
        this.lifeCycle = lifeCycle;
        this.undelivered = undelivered;
        this.shutdownTimeoutNs = shutdownTimeoutNs;
    }

    /** Starts the pipeline; a failed start leaves nothing running. */
    void start(final Runnable threads) {
        lock.lock();
        try {
            threads.run();
            lifeCycle.advance(PipelineState.RUNNING);
            addShutdownHook();
        } catch (final RuntimeException | Error failure) {
            abandon(failure);
            throw failure;
        } finally {
            lock.unlock();
        }
        if (requested) {
            // Requested by a call that could not wait for the start.
            close(0, false);
        }
    }

    /** Waits until the queues are empty and the published completions have been handled. */
    PipelineReport drain(final Deadline deadline) {
        final PipelineReport closed = report;
        if (closed != null) {
            return closed;
        }
        final int onHandlersThread = pipeline.handlerThreads().contains(Thread.currentThread()) ? 1 : 0;
        drainingHandlers.addAndGet(onHandlersThread);
        try {
            final boolean empty = awaitEmptyQueues(deadline);
            final Handlers handlers = pipeline.handlers();
            final long last = handlers.ring().cursor().get();
            // A task would stop the polling. Two handlers that drain would wait for each other.
            pipeline.polling().await(deadline, () -> pipeline.failure() != null || pipeline.polling().isCaller() ||
                handlers.haveOthersPassed(last) || onHandlersThread > 0 && drainingHandlers.get() > 1);
            pipeline.poller().queues().releasePassed();
            return snapshot(PipelineReport.UNKNOWN, empty && handlers.haveOthersPassed(last));
        } finally {
            drainingHandlers.addAndGet(-onHandlersThread);
        }
    }

    /** Waits until the handlers have passed the published completions; returns whether they have. */
    boolean awaitHandled(final Deadline deadline) {
        final Handlers handlers = pipeline.handlers();
        final PipelineRing ring = handlers.ring();
        final long last = ring.lastPublished();
        final boolean handled;
        if (pipeline.polling().isCaller()) {
            // Handlers on this thread cannot pass anything during the call, and others should not stop the polling.
            handled = ring.isPassed(last);
        } else {
            pipeline.polling().await(deadline, () -> pipeline.failure() != null || handlers.haveOthersPassed(last));
            handled = handlers.haveOthersPassed(last);
        }
        pipeline.poller().queues().releasePassed();
        return handled;
    }

    /** Closes the pipeline. */
    PipelineReport close(final long timeoutNs, final boolean drainFirst) {
        if (report == null && !lock.isHeldByCurrentThread()) {
            if (isOwnThread()) {
                closeElsewhere(timeoutNs, drainFirst);
            } else {
                final Deadline deadline = Deadline.after(timeoutNs);
                requested |= !pipeline.polling().tryLock(deadline, lock);
                if (lock.isHeldByCurrentThread() || lock.tryLock()) {
                    close(deadline, timeoutNs, drainFirst);
                } else if (lifeCycle.state() != PipelineState.STARTING) {
                    // Another thread is about to begin: no queue is added after this call.
                    begin();
                }
            }
        }
        return reportOrSnapshot();
    }

    /** Starts the close on another thread unless it is in progress, without waiting. */
    PipelineReport closeWithoutWaiting(final long timeoutNs) {
        if (report == null && !lock.isHeldByCurrentThread()) {
            closeElsewhere(timeoutNs, true);
        }
        return reportOrSnapshot();
    }

    /** Whether the close would wait for the calling thread: the poller's, a handler's, or the closing thread itself. */
    boolean waitsForCaller() {
        return lock.isHeldByCurrentThread() || isOwnThread();
    }

    /** Whether the pipeline was closed, by any thread, while the JVM shut down. */
    boolean wasClosedByShutdown() {
        return closedByShutdown;
    }

    private PipelineReport reportOrSnapshot() {
        final PipelineReport closed = report;
        return closed != null ? closed : snapshot(PipelineReport.UNKNOWN, false);
    }

    /** Whether the calling thread is the poller's or a handler's, and cannot wait for itself. */
    private boolean isOwnThread() {
        return pipeline.polling().isCaller() || pipeline.handlerThreads().contains(Thread.currentThread());
    }

    /** Closes the pipeline with the lock held, and releases the lock. */
    private void close(final Deadline deadline, final long timeoutNs, final boolean drainFirst) {
        try {
            if (report == null) {
                begin();
                pipeline.polling().replaceEndedThread();
                // An agent that was never started polls nothing.
                if (drainFirst && pipeline.pollerThread() != null) {
                    drain(Deadline.after(timeoutNs / 2));
                }
                end(deadline);
            }
        } finally {
            lock.unlock();
        }
    }

    private void begin() {
        if (lifeCycle.state() != PipelineState.STOPPING) {
            closedByShutdown = JvmShutdown.hasBegun();
            lifeCycle.advance(PipelineState.STOPPING);
        }
    }

    /** Closes the pipeline on a new thread; the first call determines the time-out and the drain. */
    private void closeElsewhere(final long timeoutNs, final boolean drainFirst) {
        if (lifeCycle.state() != PipelineState.STOPPING && closesElsewhere.compareAndSet(false, true)) {
            try {
                Thread.ofPlatform().daemon().name(pipeline.name() + "-closer").start(() -> {
                    lock.lock();
                    close(Deadline.after(timeoutNs), timeoutNs, drainFirst);
                });
            } catch (final RuntimeException | Error noThread) {
                closesElsewhere.set(false);
                throw noThread;
            }
        }
    }

    private void end(final Deadline deadline) {
        lifeCycle.advance(PipelineState.STOPPING);
        pipeline.polling().stop();
        // Each handler ends when it has handled all slots that the poller published.
        final boolean pollerEnded = pipeline.polling().awaitEnd(deadline);
        boolean handlersEnded = true;
        for (final Thread thread : pipeline.handlerThreads()) {
            handlersEnded &= deadline.join(thread);
        }
        final boolean released = deadline.await(() -> pipeline.held() == 0);
        final long inQueues = pollerEnded ? undelivered.take() : PipelineReport.UNKNOWN;
        release(snapshot(inQueues, pollerEnded && handlersEnded && released));
    }

    /** Ends the threads of a pipeline that failed to start; a thread that is blocked ends when its call returns. */
    private void abandon(final Throwable cause) {
        lifeCycle.advance(PipelineState.STOPPING);
        pipeline.polling().stop();
        if (!pipeline.polling().hasStarted()) {
            pipeline.handlers().stopAfter(-1);
            try {
                pipeline.poller().onClose();
            } catch (final RuntimeException failure) {
                cause.addSuppressed(failure);
            }
        }
        final Deadline deadline = Deadline.after(ABANDON_NS);
        pipeline.polling().awaitEnd(deadline);
        pipeline.handlerThreads().forEach(deadline::join);
        pipeline.handlers().endWithoutTask();
        release(snapshot(PipelineReport.UNKNOWN, false));
    }

    private void release(final PipelineReport result) {
        report = result;
        lifeCycle.advance(PipelineState.CLOSED);
        PipelineEvent.emit(pipeline.name(), "stopped", closedByShutdown ? "by JVM shutdown: " + result : result.toString());
        removeShutdownHook();
        try {
            pipeline.slab().release();
        } finally {
            pipeline.endMonitoring();
        }
    }

    /** Waits until all queues were empty in one round, or the pipeline is paused; stops waiting when no such round can occur. */
    private boolean awaitEmptyQueues(final Deadline deadline) {
        if (pipeline.polling().isCaller()) {
            // The poller makes no round while a handler runs on its thread.
            return false;
        }
        while (isPolling()) {
            final Deadline look = Deadline.after(Math.min(pipeline.polling().checkNs(), deadline.leftNs()));
            if (pipeline.poller().isPaused() || pipeline.polling().awaitEmptyRound(look)) {
                return true;
            }
            if (deadline.isOver() || pipeline.handlers().isFullBehindCaller()) {
                return false;
            }
            look.await(() -> !isPolling());
        }
        return false;
    }

    private boolean isPolling() {
        return pipeline.failure() == null && pipeline.polling().isAlive();
    }

    private PipelineReport snapshot(final long inQueues, final boolean inTime) {
        final PipelineRing ring = pipeline.handlers().ring();
        final long last = ring.cursor().get();
        final long polled = last + 1;
        final long handled = ring.minimumGatingSequence(last) + 1;
        return new PipelineReport(polled, handled, pipeline.held(), inQueues, inTime);
    }

    private void closeAtShutdown() {
        final PipelineReport closed = close(shutdownTimeoutNs, true);
        if (!closed.inTime()) {
            System.getLogger(Pipeline.class.getName()).log(System.Logger.Level.WARNING,
                "JVM shutdown: pipeline {0} has not closed completely within {1} ms: {2}", pipeline.name(),
                Long.toString(TimeUnit.NANOSECONDS.toMillis(shutdownTimeoutNs)), closed);
        }
    }

    private void addShutdownHook() {
        if (shutdownTimeoutNs > 0) {
            final Thread hook = new Thread(this::closeAtShutdown, pipeline.name() + "-shutdown");
            try {
                Runtime.getRuntime().addShutdownHook(hook);
                shutdownHook = hook;
            } catch (final IllegalStateException shuttingDown) {
                // The thread that starts a pipeline during shutdown closes it.
                return;
            }
        }
    }

    private void removeShutdownHook() {
        if (shutdownHook != null && shutdownHook != Thread.currentThread()) {
            try {
                Runtime.getRuntime().removeShutdownHook(shutdownHook);
            } catch (final IllegalStateException shuttingDown) {
                // The hook is running and finds the report.
                return;
            }
        }
    }
}
