package io.ringpoll.internal.transport;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the requests of a server, which may wait for the engine: a task that a handler submits on the polling thread runs there
 * after the duty cycle if another thread can take over the polling ({@link PollingThreads}), and all others on threads of their
 * own. A task that is likely to wait goes to {@link #elsewhere()}. Thread-safe.
 */
public final class RequestThreads implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(RequestThreads.class);
    private static final long STOP_MS = 1_000;

    private final ExecutorService pool;
    private final boolean mayPollingThread;
    /** The polling thread that runs a task; null if none does. */
    private Thread here;

    /**
     * Creates the threads when they are needed.
     *
     * @param name             of the threads, followed by a number
     * @param mayPollingThread whether the polling thread may run tasks
     */
    public RequestThreads(final String name, final boolean mayPollingThread) {
        this.mayPollingThread = mayPollingThread;
        final ThreadFactory daemons = Thread.ofPlatform().daemon().name(name, 0).factory();
        pool = Executors.newCachedThreadPool(work -> daemons.newThread(PollingThreads.unpinned(work)));
    }

    @Override
    public void execute(final Runnable task) {
        if (!mayPollingThread || !PollingThreads.leave(this, task)) {
            pool.execute(task);
        }
    }

    /**
     * Threads that poll nothing.
     *
     * @return the executor of those threads, always the same one
     */
    public ExecutorService elsewhere() {
        return pool;
    }

    /** Runs a task that was left to the polling thread on another one. */
    void handOff(final Runnable task) {
        try {
            pool.execute(task);
        } catch (final RejectedExecutionException | OutOfMemoryError none) {
            // Nobody would reply to the request. A server that is closing refuses it at once.
            runHere(task);
        }
    }

    /** Runs a task on the calling thread, a polling one. */
    void runHere(final Runnable task) {
        occupy(Thread.currentThread());
        try {
            task.run();
        } catch (final RuntimeException | Error failure) {
            LOG.warn("a request has failed", failure);
        } finally {
            occupy(null);
            // It has been meant for the task.
            Thread.interrupted();
        }
    }

    private synchronized void occupy(final Thread thread) {
        here = thread;
    }

    /**
     * Ends the threads, and interrupts only those that do not end by themselves: an interrupt fails a write of the engine to a
     * file, for instance of a configuration or a piece of a snapshot. It takes up to two seconds.
     */
    public void end() {
        pool.shutdown();
        try {
            if (!hasEnded()) {
                pool.shutdownNow();
                interruptHere();
                hasEnded();
            }
        } catch (final InterruptedException e) {
            pool.shutdownNow();
            interruptHere();
            Thread.currentThread().interrupt();
        }
    }

    private boolean hasEnded() throws InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MS);
        boolean ended = pool.awaitTermination(STOP_MS, TimeUnit.MILLISECONDS);
        while (isHere() && System.nanoTime() - deadlineNs < 0) {
            Thread.sleep(1);
        }
        return ended && !isHere();
    }

    private synchronized boolean isHere() {
        return here != null && here != Thread.currentThread();
    }

    private synchronized void interruptHere() {
        if (here != null && here != Thread.currentThread()) {
            here.interrupt();
        }
    }
}
