package io.ringpoll.ratis;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks one at a time, in submission order, on the threads of another executor. Thread-safe. */
final class SerialExecutor implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

    private final Executor executor;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean running;

    SerialExecutor(final Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(final Runnable task) {
        synchronized (this) {
            tasks.addLast(task);
            if (running) {
                return;
            }
            running = true;
        }
        start();
    }

    private void start() {
        try {
            executor.execute(this::drain);
        } catch (final RuntimeException | Error failure) {
            stop();
            throw failure;
        }
    }

    /** Whether no task is running or pending. */
    synchronized boolean isIdle() {
        return !running;
    }

    private synchronized void stop() {
        tasks.clear();
        running = false;
    }

    private void drain() {
        for (Runnable task = next(); task != null; task = next()) {
            run(task);
        }
    }

    private static void run(final Runnable task) {
        try {
            task.run();
        } catch (final RuntimeException | Error failure) {
            // The tasks behind it would never run.
            LOG.warn("a task has failed", failure);
        }
    }

    private synchronized Runnable next() {
        final Runnable task = tasks.pollFirst();
        running = task != null;
        return task;
    }
}
