package io.ringpoll.pipeline;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;

/**
 * A thread of a pipeline. It retains the slab from before its start until its end, so that the memory that it polls into or reads
 * is not freed.
 */
final class PipelineThread {
    private final Thread thread;
    private final CompletionSlab slab;
    /** Set by the start, cleared by the only run. */
    private final AtomicBoolean mayRun = new AtomicBoolean();
    private volatile StartGate gate;

    /**
     * Creates a thread without starting it.
     *
     * @param factory creates a thread from its task and its name
     */
    PipelineThread(
        final String name, final CompletionSlab slab, final Runnable work,
        final BiFunction<Runnable, String, Thread> factory) {
        this.slab = slab;
        this.thread = factory.apply(() -> run(work), name);
        thread.setDaemon(true);
    }

    /** Makes threads by a factory of the user, which may return each platform thread once and must not start it. */
    static BiFunction<Runnable, String, Thread> madeBy(final ThreadFactory factory) {
        final Set<Thread> returned = Collections.newSetFromMap(new IdentityHashMap<>());
        return (task, name) -> {
            final Thread thread = Objects.requireNonNull(factory.newThread(task), "the thread factory returned null");
            final boolean isNew = thread.getState() == Thread.State.NEW;
            if (!isNew || !returned.add(thread)) {
                throw new IllegalArgumentException("the thread factory returned thread " + thread.getName() +
                    (isNew ? " twice" : ", which has been started") + ": return a new thread each time");
            }
            if (thread.isVirtual()) {
                // It would keep its carrier while it spins or polls, and pinning it to a CPU would pin the carrier.
                throw new IllegalArgumentException("the thread factory returned a virtual thread: return platform threads");
            }
            thread.setName(name);
            return thread;
        };
    }

    Thread thread() {
        return thread;
    }

    /** Whether the thread has been started; any thread. */
    boolean hasStarted() {
        return thread.getState() != Thread.State.NEW;
    }

    /**
     * Starts the thread, which reports to the gate.
     *
     * @throws PipelineStartException if no thread can be created; nothing is retained
     */
    void start(final StartGate startGate) {
        gate = startGate;
        startGate.expect(thread.getName());
        slab.retain();
        mayRun.set(true);
        try {
            thread.start();
        } catch (final RuntimeException | Error failure) {
            if (mayRun.compareAndSet(true, false)) {
                slab.release();
            }
            throw new PipelineStartException(
                "thread " + thread.getName() + " did not start: " + ErrorRecorder.describe(failure), failure);
        }
    }

    /**
     * Does the last work for a thread that has ended without its task: code of the factory has thrown before it, for instance. No
     * effect otherwise.
     */
    void endWithoutTask(final Runnable last) {
        if (!thread.isAlive() && mayRun.compareAndSet(true, false)) {
            try {
                last.run();
            } finally {
                slab.release();
            }
        }
    }

    private void run(final Runnable work) {
        if (!mayRun.compareAndSet(true, false)) {
            // The slab is not retained: the work must not access it.
            throw new IllegalStateException(
                "a thread factory has run the task of a pipeline's thread before its start, or twice");
        }
        try {
            if (Thread.currentThread() == thread) {
                work.run();
            } else {
                gate.failed(thread.getName(), new IllegalStateException("the thread factory returned " + thread.getName() +
                    ", and runs its task on " + Thread.currentThread().getName()));
            }
        } finally {
            slab.release();
        }
    }
}
