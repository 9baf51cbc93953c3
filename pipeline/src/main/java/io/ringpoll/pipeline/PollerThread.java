package io.ringpoll.pipeline;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.PollerLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/**
 * The polling thread of a pipeline: is pinned, starts the handlers that run on it, runs the poller's loop, ends the handlers.
 */
final class PollerThread implements Polling {
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final int cpu;
    private final CompletionPoller poller;
    private final PollerLoop loop;
    private final Handlers handlers;
    private final StartGate startGate;
    private final PipelineThread thread;

    PollerThread(
        final CompletionPoller poller, final int cpu, final PollerLoop loop, final Handlers handlers, final StartGate startGate,
        final CompletionSlab slab, final BiFunction<Runnable, String, Thread> threads) {
        this.poller = poller;
        this.cpu = cpu;
        this.loop = loop;
        this.handlers = handlers;
        this.startGate = startGate;
        this.thread = new PipelineThread(poller.roleName(), slab, this::run, threads);
    }

    @Override
    public Thread thread() {
        return thread.thread();
    }

    @Override
    public void start() {
        thread.start(startGate);
    }

    @Override
    public void stop() {
        loop.stop();
    }

    @Override
    public boolean hasStarted() {
        return thread.hasStarted();
    }

    @Override
    public boolean isAlive() {
        return thread().isAlive();
    }

    @Override
    public boolean isCaller() {
        return Thread.currentThread() == thread();
    }

    @Override
    public boolean await(final Deadline deadline, final BooleanSupplier condition) {
        return deadline.await(condition);
    }

    @Override
    public boolean tryLock(final Deadline deadline, final Lock lock) {
        return deadline.tryLock(lock);
    }

    @Override
    public boolean awaitEmptyRound(final Deadline deadline) {
        return awaitEmptyRound(poller, deadline);
    }

    @Override
    public void replaceEndedThread() {
        // The thread ends its poller.
    }

    @Override
    public TimeoutException explain(final TimeoutException late) {
        return late;
    }

    @Override
    public boolean awaitEnd(final Deadline deadline) {
        final boolean ended = deadline.join(thread());
        thread.endWithoutTask(this::end);
        return ended;
    }

    @Override
    public long checkNs() {
        return CHECK_NS;
    }

    /** Waits for an empty round of a poller that another thread runs. */
    static boolean awaitEmptyRound(final CompletionPoller poller, final Deadline deadline) {
        try {
            poller.awaitEmptyRound(deadline);
            return true;
        } catch (final TimeoutException late) {
            return false;
        }
    }

    private void run() {
        try {
            if (begin()) {
                startGate.ready(poller.roleName());
                loop.run();
            } else {
                // Releases the completion channels, as the end of the loop would.
                poller.onClose();
            }
        } finally {
            handlers.onPollerEnd();
        }
    }

    private void end() {
        try {
            poller.onClose();
        } finally {
            handlers.onPollerEnd();
        }
    }

    private boolean begin() {
        try {
            PinnedThreads.pinCurrentThread(cpu);
            loop.onStart();
            handlers.onPollerStart();
            return true;
        } catch (final HandlerNotStarted notStarted) {
            startGate.failed(notStarted.roleName(), notStarted.getCause());
        } catch (final Throwable failure) {
            startGate.failed(poller.roleName(), failure);
        }
        return false;
    }
}
