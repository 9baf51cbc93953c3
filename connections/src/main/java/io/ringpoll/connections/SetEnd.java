package io.ringpoll.connections;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.os.JvmShutdown;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.pipeline.PipelineGroup;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The close of a set: ends its connections, its threads and its memory. One thread at a time closes. A close that was begun is
 * continued until everything is released: by further calls, and otherwise by a thread of its own.
 *
 * <p>Thread-safe.
 */
final class SetEnd {
    static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);
    /** Minimum time for the steps that need the thread of events only. */
    static final long ADOPTION_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_CLOSE_NS = TimeUnit.HOURS.toNanos(1);
    private static final System.Logger LOG = System.getLogger(ConnectionSet.class.getName());

    private final String name;
    private final ConnectionEvents events;
    private final ConnectionPollers pollers;
    private final PipelineGroup pipelines;
    private final ConnectionPlaces places;
    private final ListenerFailures failures;
    /** Makes the thread that continues a close. */
    private final ThreadFactory closers;
    /** Describes the close; null until it has begun. */
    private final AtomicReference<String> closing = new AtomicReference<>();
    /** Held by the closing thread. */
    private final ReentrantLock closer = new ReentrantLock();
    /** Whether a thread of its own closes, or has closed. */
    private final AtomicBoolean closesOnThread = new AtomicBoolean();
    /** Whether the end of a pipeline has begun the close. Event thread. */
    private boolean closesItself;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Thread shutdownHook;
    private volatile boolean releasedAll;
    /** Whether all connections and threads have ended. Guarded by {@link #closer}. */
    private boolean endedAll;
    /** Whether the pipelines end by the close of the set; false if one ends before. */
    private volatile boolean closesPipelines;

    /** Creates the close of a set that has its pollers and places. */
    SetEnd(final ConnectionSet set, final ConnectionEvents events, final PipelineGroup pipelines,
        final ListenerFailures failures, final ThreadFactory closers) {
        name = set.name();
        pollers = set.pollers();
        places = set.places();
        this.events = events;
        this.pipelines = pipelines;
        this.failures = failures;
        this.closers = closers;
    }

    boolean hasBegun() {
        return closing.get() != null;
    }

    boolean closesPipelines() {
        return closesPipelines;
    }

    /** Describes the close that has begun: also that by the end of the JVM or of a pipeline. */
    String description() {
        return name + closing.get();
    }

    /** Whether the calling thread is in a callback, a task or the accept filter: the close needs all threads that call these. */
    boolean isInCallback() {
        return pollers.areInCallback() || events.isCurrentThread();
    }

    /** Closes; as {@link ConnectionSet#close(long)}. */
    boolean begin(final long timeoutNs) {
        if (!hasBegun()) {
            closing.compareAndSet(null, JvmShutdown.hasBegun() ? " was closed by JVM shutdown" : " is closed");
        }
        if (isInCallback()) {
            if (!releasedAll) {
                releaseOnThread(timeoutNs);
            }
            return false;
        }
        try {
            if (!releasedAll && timeoutNs > 0) {
                release(timeoutNs);
            }
        } finally {
            if (!releasedAll) {
                releaseOnThread(DEFAULT_CLOSE_NS);
            }
        }
        return releasedAll;
    }

    /** Closes because a pipeline has ended; event thread, which may repeat it. */
    void beginBecause(final String pipelineEnd) {
        // In this order: the close of the set ends its pipelines.
        if (closing.compareAndSet(null, " is closed: " + pipelineEnd)) {
            closesItself = true;
            LOG.log(System.Logger.Level.WARNING, "{0} closes itself: {1}", name, pipelineEnd);
            events.failUnpolled();
        }
        if (closesItself) {
            releaseOnThread(DEFAULT_CLOSE_NS);
        }
    }

    /** Closes when the JVM shuts down; throws an {@link IllegalStateException} if it does so already. */
    void beginAtShutdown(final long timeoutNs) {
        final Thread hook = new Thread(() -> begin(timeoutNs), name + "-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        shutdownHook = hook;
    }

    /** Waits for the end of the close; as {@link ConnectionSet#awaitClose()}. */
    void await() {
        if (isInCallback()) {
            throw new IllegalStateException("a callback cannot wait for the close of " + name + ", which waits for it");
        }
        try {
            if (pollers.areInvoked()) {
                pollers.makeOwnWorkUntil(
                    () -> closed.getCount() == 0 || !pollers.areInvoked(), Deadline.after(Long.MAX_VALUE));
            }
            closed.await();
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("waiting for the close of " + name);
        }
    }

    /** Releases everything on a thread of its own, however long it takes; there is one such thread at most. */
    private void releaseOnThread(final long timeoutNs) {
        if (closesOnThread.compareAndSet(false, true)) {
            boolean started = false;
            try {
                closers.newThread(() -> releaseAtLast(timeoutNs > 0 ? timeoutNs : DEFAULT_CLOSE_NS)).start();
                started = true;
            } finally {
                if (!started) {
                    // The process has its maximum of threads: the next call tries again.
                    closesOnThread.set(false);
                }
            }
        }
    }

    /** Each attempt that fails is logged: the next one gets twice the time. */
    private void releaseAtLast(final long firstTimeoutNs) {
        long timeoutNs = firstTimeoutNs;
        while (!releasedAll) {
            try {
                release(timeoutNs);
            } catch (final RuntimeException | Error failure) {
                // Nobody else would continue. The cause may last.
                failures.logFirst("the close has failed", failure);
                LockSupport.parkNanos(ADOPTION_NS);
            }
            timeoutNs = Math.clamp(2 * timeoutNs, ADOPTION_NS, LONGEST_CLOSE_NS);
        }
    }

    private void release(final long timeoutNs) {
        final Deadline deadline = Deadline.after(timeoutNs);
        if (pollers.areInvoked() ? pollers.await(deadline, closer::tryLock) : deadline.tryLock(closer)) {
            try {
                if (!releasedAll) {
                    release(deadline);
                }
            } finally {
                closer.unlock();
            }
        }
    }

    private void release(final Deadline deadline) {
        if (endedAll || endAll(deadline)) {
            endedAll = true;
            pollers.closeQueues();
            places.releaseMemory();
            releasedAll = true;
            removeShutdownHook();
            closed.countDown();
        }
    }

    /** Ends the connections and threads; returns whether all have ended in time. */
    private boolean endAll(final Deadline deadline) {
        events.endAll();
        pollers.awaitForAll(deadline, () -> places.unended() == 0 || pollers.haveEnded());
        closesPipelines = true;
        pipelines.close(deadline.leftNs());
        final boolean polling = !pollers.join(deadline);
        boolean ended = false;
        if (!polling) {
            ended = adopt(deadline) && events.stop(orLater(deadline).leftNs());
        }
        if (!ended) {
            LOG.log(System.Logger.Level.WARNING, "{0} is not closed within {1}: {2}, {3} connections are not released",
                name, deadline.timeout(), polling ? "a polling thread has not ended" : "all callbacks have returned",
                places.unended());
        }
        return ended;
    }

    /** Completes the work that the polling threads have left at their end; returns whether it is complete in time. */
    private boolean adopt(final Deadline deadline) {
        if (places.connections() > 0) {
            events.abandonAll();
        }
        return orLater(deadline).await(() -> pollers.adopt() && places.unended() == 0);
    }

    /** Leaves a second for the steps that need the thread of events only. */
    private static Deadline orLater(final Deadline deadline) {
        return Deadline.after(Math.max(ADOPTION_NS, deadline.leftNs()));
    }

    private void removeShutdownHook() {
        final Thread hook = shutdownHook;
        try {
            if (hook != null) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        } catch (final IllegalStateException shuttingDown) {
            // The hook runs, or will return immediately.
        }
    }
}
