package io.ringpoll.internal.transport;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.MoreExecutors;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;

/**
 * A node's threads for messages over {@link #INLINE_BYTES}: they allocate, register, write and parse them, which would hold up
 * all connections on the handlers' threads. At most one thread works for a connection. Thread-safe.
 */
final class LongMessageThreads implements Executor {
    /** Longest message that a handler's thread writes or parses: a few tens of microseconds. */
    static final int INLINE_BYTES = 128 * 1024;

    private final ExecutorService threads;

    /** A thread that knows its node. */
    private static final class Worker extends Thread {
        private final LongMessageThreads owner;

        private Worker(final LongMessageThreads owner, final String name, final Runnable work) {
            super(work, name);
            this.owner = owner;
            setDaemon(true);
        }
    }

    LongMessageThreads(final String nodeName) {
        threads = Executors.newCachedThreadPool(
            work -> new Worker(this, nodeName + "-long-messages", PollingThreads.unpinned(work)));
    }

    /** An executor for one connection: its tasks run one at a time, in the order of their submission. */
    Executor inOrder() {
        return MoreExecutors.newSequentialExecutor(threads);
    }

    /** Runs a task on one of these threads; on the calling one if it is one of them, or if they have ended. */
    @Override
    public void execute(final Runnable task) {
        if (isCurrentThread()) {
            task.run();
            return;
        }
        try {
            threads.execute(task);
        } catch (final RejectedExecutionException e) {
            task.run();
        }
    }

    /** Whether the calling thread is one of these. */
    boolean isCurrentThread() {
        return Thread.currentThread() instanceof final Worker worker && worker.owner == this;
    }

    /** Waits until all tasks have run; false if some have not ended in time. Not on one of these threads. */
    boolean close(final long timeoutMs) {
        threads.shutdown();
        return Uninterruptibles.awaitTerminationUninterruptibly(threads, timeoutMs, TimeUnit.MILLISECONDS);
    }
}
